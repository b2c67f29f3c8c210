import {
  applyFilter,
  dropUnavailableValues,
  type Filter,
  listFilterOptions,
  NO_FILTER,
  suggestTexts,
} from '../../../../src/web/app/board/filter/filter.js';
import { pullRequest as row } from '../../../dashboard/pull-request.js';

const NOW = Date.parse('2026-05-03T00:00:00Z');
const ROWS = [
  row({ number: 1, title: 'Send receipts', updatedAt: '2026-05-02T23:30:00Z', ci: 'failure' }),
  row({
    number: 2,
    forge: 'gitlab',
    title: 'Round taxes',
    section: 'needs_your_review',
    updatedAt: '2026-05-02T00:30:00Z',
    author: 'lisa',
  }),
  row({
    number: 3,
    title: 'Keep sessions',
    updatedAt: '2026-04-20T00:00:00Z',
    labels: [{ name: 'bug', color: 'd73a4a' }],
  }),
];

const numbers = (filter: Partial<Filter>): number[] =>
  applyFilter(ROWS, { ...NO_FILTER, ...filter }, NOW).map(({ number }) => number);

test.each<[string, Partial<Filter>, number[]]>([
  ['no conditions', {}, [1, 2, 3]],
  ['a quick filter', { pill: 'failing' }, [1]],
  ['a section', { section: 'needs_your_review' }, [2]],
  ['an author', { author: 'lisa' }, [2]],
  ['a label', { label: 'bug' }, [3]],
  ['a repository, if two forges have one of this name', { repo: 'gitlab acme/shop' }, [2]],
  ['the last hour', { updated: '1' }, [1]],
  ['the last day', { updated: '24' }, [1, 2]],
  ['a text in any case', { text: ' TAXES ' }, [2]],
  ['a number', { text: '#3' }, [3]],
  ['two conditions at once', { pill: 'failing', author: 'lisa' }, []],
])('applyFilter: filters by %s', (_reason, filter, expected) => {
  expect(numbers(filter)).toEqual(expected);
});

test('dropUnavailableValues: drops values that are no longer on the board', () => {
  const filter = { ...NO_FILTER, repo: 'github acme/gone', author: 'lisa', label: 'gone' };
  expect(dropUnavailableValues(filter, listFilterOptions(ROWS))).toEqual({ ...NO_FILTER, author: 'lisa' });
});

test('listFilterOptions: distinguishes repositories of the same name by their forge', () => {
  expect(listFilterOptions(ROWS).repos).toEqual([
    ['github acme/shop', 'acme/shop (GitHub)'],
    ['gitlab acme/shop', 'acme/shop (GitLab)'],
  ]);
});

test('suggestTexts: leaves out titles that do not match themselves as a search', () => {
  const titles = ['Fix the cart', 'Fix the label:none term', 'Fix -the minus'];
  const rows = titles.map((title, index) => row({ number: index + 1, title }));
  expect(suggestTexts(rows, 'fix the')).toEqual(['Fix the cart']);
  expect(suggestTexts(rows, 'fix -t')).toEqual([]);
});
