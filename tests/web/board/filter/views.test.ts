import { applyFilter, type Filter, NO_FILTER } from '../../../../src/web/app/board/filter/filter.js';
import {
  countViews,
  createViewMatcher,
  openView,
  toView,
  toViewName,
} from '../../../../src/web/app/board/filter/views.js';
import { pullRequest as row } from '../../../dashboard/pull-request.js';

const NOW = Date.parse('2026-05-03T00:00:00Z');
const ROWS = [
  row({ number: 1, ci: 'failure', kind: 'dependency', labels: [{ name: 'Bug', color: 'd73a4a' }] }),
  row({ number: 2, forge: 'gitlab', author: 'lisa', readyToMerge: true, updatedAt: '2026-05-02T23:30:00Z' }),
  row({
    number: 3,
    section: 'needs_your_review',
    needsReview: true,
    reviewRequestedFromMe: true,
    title: 'Keep sessions',
  }),
  row({ number: 4, section: 'needs_your_review', reviewRequestedFromMyTeam: true }),
];

test.each<Partial<Filter>>([
  {},
  { section: 'needs_your_review' },
  { pill: 'gitlab' },
  { pill: 'failing' },
  { pill: 'bots' },
  { pill: 'ready' },
  { pill: 'review' },
  { pill: 'mine' },
  { repo: 'gitlab acme/shop' },
  { author: 'lisa' },
  { label: 'Bug' },
  { ci: 'failure' },
  { updated: '1' },
  { text: ' sessions ' },
  { text: 'label:bug ci:fail' },
  { text: '-is:bot' },
])('toView: the view of the filter %j selects the same rows', (change) => {
  const filter = { ...NO_FILTER, ...change };
  const { filter: view } = toView(filter, undefined);
  const numbers = (rows: typeof ROWS) => rows.map(({ number }) => number).sort();
  expect(numbers(ROWS.filter(createViewMatcher(view, NOW)))).toEqual(numbers([...applyFilter(ROWS, filter, NOW)]));
});

test('toView: combines the open view with further conditions', () => {
  const open = { name: 'mine', filter: { authors: ['mona'] }, sort: 'board', group: 'none' } as const;
  expect(toView({ ...NO_FILTER, view: 'mine', ci: 'failure' }, open).filter).toEqual({
    authors: ['mona'],
    ci: ['failure'],
  });
});

test('openView: shows drafts and snoozed rows if the view searches for them', () => {
  const open = (search: string) =>
    openView({ name: 'mine', filter: { search }, sort: 'board', group: 'none' }, NO_FILTER);
  expect(open('is:draft,snoozed')).toMatchObject({ drafts: true, snoozed: true });
  expect(open('-is:draft')).toMatchObject({ drafts: false, snoozed: false });
});

test('openView: keeps the page size', () => {
  const view = { name: 'mine', filter: {}, sort: 'board', group: 'none' } as const;
  expect(openView(view, { ...NO_FILTER, size: '100', author: 'mona' })).toEqual({
    ...NO_FILTER,
    ...{ view: 'mine', group: 'none', size: '100' },
  });
});

test('countViews: counts the rows that each view lists, and leaves out views with drafts that are not loaded', () => {
  const view = (name: string, search: string) => ({ name, filter: { search }, sort: 'board', group: 'none' }) as const;
  const views = [view('drafts', 'is:draft'), view('snoozed', 'is:snoozed'), view('all', '')];
  const snoozed = row({ number: 5, snooze: { untilChange: true } });
  const draft = row({ number: 6, draft: true, section: 'drafts' });
  const count = (pullRequests: typeof ROWS, hiddenDrafts: number, text = '') =>
    Object.fromEntries(countViews({ pullRequests, hiddenDrafts }, { ...NO_FILTER, text }, views));
  expect(count([...ROWS, snoozed], 1)).toEqual({ snoozed: 1, all: 4 });
  // A search for drafts loads them, but an opened view replaces the search.
  expect(count([...ROWS, snoozed, draft], 0, 'is:draft')).toEqual({ drafts: 1, snoozed: 1, all: 4 });
});

test('toView: adds a search to that of the open view', () => {
  const open = { name: 'mine', filter: { search: 'author:mona' }, sort: 'board', group: 'none' } as const;
  expect(toView({ ...NO_FILTER, view: 'mine', text: '-is:draft' }, open).filter.search).toBe('author:mona -is:draft');
  const unclosed = { ...open, filter: { search: 'label:"help wanted' } };
  expect(toView({ ...NO_FILTER, view: 'mine', text: '-is:draft' }, unclosed).filter.search).toBe(
    'label:"help wanted" -is:draft',
  );
});

test.each([
  ['Waiting for me', 'waiting-for-me'],
  [' -What fails? ', 'what-fails'],
  ['Café', 'cafe'],
  ['…', ''],
])('toViewName: converts %j to %j', (text, name) => {
  expect(toViewName(text)).toBe(name);
});
