import { listExpiries, applyView, type View } from '../../../src/dashboard/boards/views.js';
import { pullRequest } from '../pull-request.js';

type Row = ReturnType<typeof pullRequest>;

const at = Date.parse('2026-05-02T10:00:00Z');
const view = (filter: View['filter'], sort: View['sort'] = 'board'): View => ({ filter, sort, group: 'none' });
const numbers = (list: readonly Row[]): number[] => list.map(({ number }) => number);

/** Two pull requests that differ in every field. */
const rows: readonly Row[] = [
  pullRequest({ number: 1, updatedAt: '2026-05-02T08:00:00Z', createdAt: '2026-05-01T10:00:00Z' }),
  pullRequest({
    number: 2,
    forge: 'gitlab',
    repo: 'Sub/Group/App',
    author: 'Lisa',
    title: 'Größe der Knöpfe',
    labels: [
      { name: 'UI', color: 'ffffff' },
      { name: 'bug', color: '000000' },
    ],
    updatedAt: '2026-05-02T07:59:59.999Z',
    createdAt: '2026-05-01T09:00:00Z',
    ci: 'failure',
    kind: 'dependency',
    section: 'needs_your_review',
    reviewRequestedFromMe: true,
    readyToMerge: false,
    needsReview: true,
    changedSinceVisit: true,
  }),
];

test('a view filters by a review requested from the caller or a team of the caller', () => {
  const asked = [
    pullRequest({ number: 1, reviewRequestedFromMe: true }),
    pullRequest({ number: 2, reviewRequestedFromMyTeam: true }),
    pullRequest({ number: 3, reviewRequestedFromMyTeam: false }),
    pullRequest({ number: 4 }),
  ];
  const list = (reviewRequested: boolean) => numbers(applyView(asked, view({ reviewRequested }), at));
  expect([list(true), list(false)]).toEqual([
    [1, 2],
    [3, 4],
  ]);
});

test.each<[string, View['filter'], readonly number[]]>([
  ['nothing', {}, [1, 2]],
  ['section', { sections: ['needs_your_review', 'drafts'] }, [2]],
  ['forge', { forges: ['github'] }, [1]],
  ['repository, ignoring case', { repos: ['sub/group/app'] }, [2]],
  ['author, ignoring case', { authors: ['MONA', 'nobody'] }, [1]],
  ['labels, of which one must match', { labels: ['ui', 'docs'] }, [2]],
  ['checks', { ci: ['failure', 'pending'] }, [2]],
  ['kind', { kinds: ['regular'] }, [1]],
  ['a review requested from the caller', { reviewRequestedFromMe: true }, [2]],
  ['no review requested from the caller', { reviewRequestedFromMe: false }, [1]],
  ['ready to merge', { readyToMerge: true }, [1]],
  ['needs review', { needsReview: true }, [2]],
  ['changed since the last visit', { changedSinceVisit: true }, [2]],
  ['not changed since the last visit', { changedSinceVisit: false }, [1]],
  ['hours since the last update', { updatedWithinHours: 2 }, [1]],
  ['hours since creation', { createdWithinHours: 24 }, [1]],
  ['text, ignoring case', { text: 'KNÖPFE' }, [2]],
  ['an empty text', { text: '' }, [1, 2]],
  ['a search', { search: '-author:mona größe' }, [2]],
  ['a text and a search', { text: 'knöpfe', search: 'ci:success' }, []],
  ['an empty list', { ci: [], labels: [] }, [1, 2]],
  ['two conditions that no pull request meets together', { ci: ['failure'], forges: ['github'] }, []],
])('a view filters by %s', (_what, filter, expected) => {
  expect(numbers(applyView(rows, view(filter), at))).toEqual(expected);
});

test.each<[View['sort'], readonly number[]]>([
  ['board', [1, 2, 3, 4]],
  ['updated', [2, 1, 3, 4]],
  ['created', [4, 1, 2, 3]],
  ['repository', [3, 1, 2, 4]],
])('a view sorts by %s, and keeps the order of equal pull requests', (sort, expected) => {
  const times = ['08', '09', '08', '07'].map((hour) => `2026-05-02T${hour}:00:00Z`);
  const repos = ['b/x', 'B/x', 'a/y', 'c/a'];
  const created = [2, 2, 2, 3].map((day) => `2026-04-0${day}T00:00:00Z`);
  const four = times.map((updatedAt, index) =>
    pullRequest({ number: index + 1, updatedAt, repo: repos[index]!, createdAt: created[index]! }),
  );
  expect(numbers(applyView(four, view({}, sort), at))).toEqual(expected);
  expect(numbers(four)).toEqual([1, 2, 3, 4]);
});

test('listExpiries: returns the times at which pull requests leave the view', () => {
  const filter = { updatedWithinHours: 2, createdWithinHours: 24 };
  const ends = listExpiries(rows, view(filter));
  expect(ends).toHaveLength(4);
  const first = Math.min(...ends.filter((end) => end > at));
  expect([numbers(applyView(rows, view(filter), first - 1)), numbers(applyView(rows, view(filter), first))]).toEqual([
    [1],
    [],
  ]);
});
