import { applyFilter, choicesOf, NO_FILTER, withoutVanished } from '../../../src/web/app/board/filter.js';
import type { Filter } from '../../../src/web/app/board/filter.js';
import { pullRequest as row } from '../../dashboard/pull-request.js';

const NOW = Date.parse('2026-05-03T00:00:00Z');
const ROWS = [
  row({ number: 1, title: 'Send receipts', updatedAt: '2026-05-02T23:30:00Z', ci: 'failure' }),
  row({ number: 2, forge: 'gitlab', title: 'Round taxes', updatedAt: '2026-05-02T00:30:00Z', author: 'lisa' }),
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
  ['nothing is chosen', {}, [1, 2, 3]],
  ['a pill', { pill: 'failing' }, [1]],
  ['an author', { author: 'lisa' }, [2]],
  ['a label', { label: 'bug' }, [3]],
  ['a repository of one forge, not that of the same name of another', { repo: 'gitlab acme/shop' }, [2]],
  ['the last hour', { updated: '1' }, [1]],
  ['the last day', { updated: '24' }, [1, 2]],
  ['words in any case', { text: ' TAXES ' }, [2]],
  ['a number', { text: '#3' }, [3]],
  ['two choices at once', { pill: 'failing', author: 'lisa' }, []],
])('%s', (_reason, filter, expected) => {
  expect(numbers(filter)).toEqual(expected);
});

test('a choice whose value is on the board no more selects nothing out', () => {
  const filter = { ...NO_FILTER, repo: 'github acme/gone', author: 'lisa', label: 'gone' };
  expect(withoutVanished(filter, choicesOf(ROWS))).toEqual({ ...NO_FILTER, author: 'lisa' });
});

test('repositories of one name are told apart by their forge', () => {
  expect(choicesOf(ROWS).repos).toEqual([
    ['github acme/shop', 'acme/shop (GitHub)'],
    ['gitlab acme/shop', 'acme/shop (GitLab)'],
  ]);
});
