import { EMPTY_SNAPSHOT, arrange, showBoard } from '../../src/dashboard/board.js';
import type { Look, Snapshot } from '../../src/dashboard/board.js';
import { gradeRateLimit } from '../../src/dashboard/rate-limit.js';
import { issue, pullRequest, repo } from './pull-request.js';

const at = Date.parse('2026-05-02T10:30:00Z');
const view = { generatedAt: at - 1_000, includeDrafts: false, includeSnoozed: false, at };
const toBoard = (snapshot: Snapshot, look: Look) => showBoard(arrange(snapshot), look);
const numbers = (items: readonly { readonly number: number }[]): number[] => items.map(({ number }) => number);

test('says when it was refreshed, not when it is read', () => {
  expect(toBoard(EMPTY_SNAPSHOT, view)).toMatchObject({
    generatedAt: '2026-05-02T10:29:59.000Z',
    readIntervalSeconds: 30,
  });
});

test('leaves drafts out and counts them, those of ignored repositories excepted', () => {
  const pullRequests = [
    pullRequest({ number: 1 }),
    pullRequest({ number: 2, draft: true }),
    pullRequest({ number: 3, draft: true, repo: 'acme/attic' }),
  ];
  const snapshot = {
    ...EMPTY_SNAPSHOT,
    pullRequests,
    repos: [repo(), repo({ fullName: 'acme/attic', ignoredPRs: true })],
  };
  const board = toBoard(snapshot, view);
  expect([numbers(board.pullRequests), board.hiddenDrafts]).toEqual([[1], 1]);
  const whole = toBoard(snapshot, { ...view, includeDrafts: true });
  expect([numbers(whole.pullRequests), whole.hiddenDrafts]).toEqual([[1, 2, 3], 0]);
});

test('puts what can be merged now first, then what moved last', () => {
  const pullRequests = [
    pullRequest({ number: 1, ci: 'pending', updatedAt: '2026-05-02T09:00:00Z' }),
    pullRequest({ number: 2, updatedAt: '2026-05-01T09:00:00Z' }),
    pullRequest({ number: 3, mergeStatus: 'conflicting', updatedAt: '2026-05-02T10:00:00Z' }),
    pullRequest({ number: 4, updatedAt: '2026-05-02T09:00:00+09:00' }),
  ];
  expect(numbers(toBoard({ ...EMPTY_SNAPSHOT, pullRequests }, view).pullRequests)).toEqual([4, 2, 3, 1]);
});

test('counts issues without the housekeeping ones', () => {
  const snapshot = { ...EMPTY_SNAPSHOT, issues: [issue(), issue({ number: 13, housekeeping: true })] };
  expect(toBoard(snapshot, view)).toMatchObject({ openIssueCount: 1, issues: [{ number: 12 }, { number: 13 }] });
});

test('tells for ten minutes what merged by itself', () => {
  const merged = (mergedAt: string) =>
    ({ forge: 'github', fullName: 'acme/shop', number: 1, mergedAt, message: '' }) as const;
  const autoMerged = [merged('2026-05-02T10:20:00Z'), merged('2026-05-02T10:19:59Z')];
  expect(toBoard({ ...EMPTY_SNAPSHOT, autoMerged }, view).autoMerged).toEqual([autoMerged[0]]);
});

test.each([
  ['plenty is left', 1_000, 60, 'ok'],
  ['less than a fifth is left', 999, 60, 'warning'],
  ['less than a twentieth is left', 249, 60, 'low'],
  ['nothing is left', 0, 60, 'exceeded'],
  ['nothing was left before the reset', 0, -60, 'low'],
])('grades a budget when it is read: %s', (_reason, remaining, resetsInSeconds, severity) => {
  const resetsAt = new Date(at + resetsInSeconds * 1_000).toISOString();
  expect(gradeRateLimit({ limit: 5_000, remaining, resetsAt, severity: 'ok' }, at)).toMatchObject({ severity });
});
