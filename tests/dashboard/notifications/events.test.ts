import { EMPTY_BOARD_SNAPSHOT } from '../../../src/dashboard/boards/board.js';
import { findEvents } from '../../../src/dashboard/notifications/events.js';
import { pullRequest, repo } from '../pull-request.js';

type Row = ReturnType<typeof pullRequest>;
const AT = Date.parse('2026-05-10T10:00:00Z');
const DAY = 86_400_000;

const board = (rows: readonly Partial<Row>[], repos = [repo()]) => ({
  ...EMPTY_BOARD_SNAPSHOT,
  repos,
  pullRequests: rows.map((row) => pullRequest({ updatedAt: '2026-05-09T10:00:00Z', ...row })),
});

const USERNAMES = { github: 'Ada', forgejo: '', gitlab: '' };

const find = (before: ReturnType<typeof board>, after: ReturnType<typeof board>) =>
  findEvents({ before, beforeAt: AT - 1_200_000, after, at: AT, usernames: USERNAMES, staleDays: 7 });
const kinds = (before: readonly Partial<Row>[], after: readonly Partial<Row>[]) =>
  find(board(before), board(after)).map(({ event }) => event.kind);

const APPROVED = { decision: 'approved', approvals: 1, requestedReviewers: 0 } as const;
const UNREVIEWED = { decision: 'none', approvals: 0, requestedReviewers: 0 } as const;
const REJECTED = { decision: 'changes_requested', approvals: 0, requestedReviewers: 0 } as const;

test.each<[reason: string, before: Partial<Row>, after: Partial<Row>, expected: string[]]>([
  ['a review is requested', {}, { reviewRequestedFromMe: true }, ['review_requested']],
  ['a review of the team is requested', {}, { reviewRequestedFromMyTeam: true }, ['review_requested']],
  ['the request is known', { reviewRequestedFromMe: true }, { reviewRequestedFromMe: true, title: 'x' }, []],
  ['own checks fail', { author: 'ada' }, { author: 'ada', ci: 'failure' }, ['checks_failed']],
  ["others' checks fail", {}, { ci: 'failure' }, []],
  ['own checks still fail', { author: 'ada', ci: 'failure' }, { author: 'ada', ci: 'failure' }, []],
  [
    'checks fail for a new commit',
    { author: 'ada', ci: 'failure' },
    { author: 'ada', ci: 'failure', headSha: 'b'.repeat(40) },
    ['checks_failed'],
  ],
  ['it is approved', { author: 'ada', review: UNREVIEWED }, { author: 'ada', review: APPROVED }, ['approved']],
  ['reviews become known', { author: 'ada' }, { author: 'ada', review: APPROVED }, ['approved']],
  ['an approval is withdrawn', { author: 'ada', review: APPROVED }, { author: 'ada', review: UNREVIEWED }, []],
  [
    'changes are requested',
    { author: 'ada', review: UNREVIEWED },
    { author: 'ada', review: REJECTED },
    ['changes_requested'],
  ],
  ['nothing changes', { author: 'ada' }, { author: 'ada' }, []],
])('findEvents: %s', (_reason, before, after, expected) => {
  expect(kinds([{ headSha: 'a'.repeat(40), ...before }], [{ headSha: 'a'.repeat(40), ...after }])).toEqual(expected);
});

test('findEvents: a new pull request of a listed repository is an event', () => {
  expect(kinds([], [{ reviewRequestedFromMe: true }])).toEqual(['review_requested']);
});

test('findEvents: those of a repository that had only rows of the user are events only if they changed lately', () => {
  const row = { number: 2, reviewRequestedFromMe: true };
  const before = board([{ author: 'ada' }], [{ ...repo(), yoursOnly: true }]);
  expect(find(before, board([{ author: 'ada' }, row]))).toEqual([]);
  const recent = new Date(AT - 60_000).toISOString();
  expect(find(before, board([{ author: 'ada' }, { ...row, updatedAt: recent }]))).toHaveLength(1);
});

test('findEvents: those of a repository that was not listed are events only if they changed lately', () => {
  const recent = new Date(AT - 60_000).toISOString();
  const found = find(
    board([], []),
    board([
      { number: 1, reviewRequestedFromMe: true },
      { number: 2, reviewRequestedFromMe: true, updatedAt: recent },
    ]),
  );
  expect(found.map(({ event }) => event.number)).toEqual([2]);
});

test('findEvents: a row that was absent for a while has the same key again', () => {
  const row = { reviewRequestedFromMe: true, headSha: 'a'.repeat(40) };
  const first = find(board([]), board([row]));
  const again = find(board([]), board([{ ...row, updatedAt: new Date(AT - DAY).toISOString() }]));
  expect(again.map(({ key }) => key)).toEqual(first.map(({ key }) => key));
});

test('findEvents: a repeated request has another key', () => {
  const first = find(board([]), board([{ reviewRequestedFromMe: true }]));
  const again = find(board([{}]), board([{ reviewRequestedFromMe: true, updatedAt: '2026-05-09T12:00:00Z' }]));
  expect(again[0]?.key).not.toBe(first[0]?.key);
});

test('findEvents: an own pull request that is no longer open may be merged', () => {
  expect(find(board([{ author: 'ada' }, { number: 18 }]), board([]))).toMatchObject([
    { event: { kind: 'merged', number: 17 }, isUnconfirmed: true },
  ]);
});

test.each([
  ['is not listed', []],
  ['could not be read', [repo({ stale: true })]],
  ['is ignored', [repo({ ignoredPRs: true })]],
])('findEvents: a pull request whose repository %s is not closed', (_reason, repos) => {
  expect(find(board([{ author: 'ada' }]), board([], repos))).toEqual([]);
});

test('findEvents: a pull request becomes stale once, at its time', () => {
  const staleNow = { author: 'ada', updatedAt: new Date(AT - 7 * DAY - 60_000).toISOString() };
  const staleBefore = { author: 'ada', number: 18, updatedAt: new Date(AT - 8 * DAY).toISOString() };
  const others = { number: 19, updatedAt: staleNow.updatedAt };
  const rows = [staleNow, staleBefore, others];
  expect(find(board(rows), board(rows))).toMatchObject([{ event: { kind: 'stale', number: 17 } }]);
});
