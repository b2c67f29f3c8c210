import {
  EMPTY_BOARD_SNAPSHOT,
  prepareSnapshot,
  renderBoard,
  type RenderOptions,
  type BoardSnapshot,
} from '../../../src/dashboard/boards/board.js';
import { withSeverity } from '../../../src/dashboard/forges/forge.js';
import { issue, pullRequest, repo } from '../pull-request.js';

const at = Date.parse('2026-05-02T10:30:00Z');
const view = { generatedAt: at - 1_000, includeDrafts: false, includeSnoozed: false, at };
const toBoard = (snapshot: BoardSnapshot, options: RenderOptions) => renderBoard(prepareSnapshot(snapshot), options);
const numbers = (items: readonly { readonly number: number }[]): number[] => items.map(({ number }) => number);

test('renderBoard: generatedAt is the time of the refresh, not of the read', () => {
  expect(toBoard(EMPTY_BOARD_SNAPSHOT, view)).toMatchObject({
    generatedAt: '2026-05-02T10:29:59.000Z',
    readIntervalSeconds: 30,
  });
});

test('renderBoard: hides and counts drafts, except those of ignored repositories', () => {
  const pullRequests = [
    pullRequest({ number: 1 }),
    pullRequest({ number: 2, draft: true }),
    pullRequest({ number: 3, draft: true, repo: 'acme/attic' }),
  ];
  const snapshot = {
    ...EMPTY_BOARD_SNAPSHOT,
    pullRequests,
    repos: [repo(), repo({ fullName: 'acme/attic', ignoredPRs: true })],
  };
  const board = toBoard(snapshot, view);
  expect([numbers(board.pullRequests), board.hiddenDrafts]).toEqual([[1], 1]);
  const whole = toBoard(snapshot, { ...view, includeDrafts: true });
  expect([numbers(whole.pullRequests), whole.hiddenDrafts]).toEqual([[1, 2, 3], 0]);
});

test('prepareSnapshot: sorts mergeable pull requests first, then by last update', () => {
  const pullRequests = [
    pullRequest({ number: 1, ci: 'pending', updatedAt: '2026-05-02T09:00:00Z' }),
    pullRequest({ number: 2, updatedAt: '2026-05-01T09:00:00Z' }),
    pullRequest({ number: 3, mergeStatus: 'conflicting', updatedAt: '2026-05-02T10:00:00Z' }),
    pullRequest({ number: 4, updatedAt: '2026-05-02T09:00:00+09:00' }),
  ];
  expect(numbers(toBoard({ ...EMPTY_BOARD_SNAPSHOT, pullRequests }, view).pullRequests)).toEqual([4, 2, 3, 1]);
});

test('renderBoard: counts issues without housekeeping issues', () => {
  const snapshot = { ...EMPTY_BOARD_SNAPSHOT, issues: [issue(), issue({ number: 13, housekeeping: true })] };
  expect(toBoard(snapshot, view)).toMatchObject({ openIssueCount: 1, issues: [{ number: 12 }, { number: 13 }] });
});

test('renderBoard: lists auto-merged pull requests for ten minutes', () => {
  const merged = (mergedAt: string) =>
    ({ forge: 'github', fullName: 'acme/shop', number: 1, mergedAt, message: '' }) as const;
  const autoMerged = [merged('2026-05-02T10:20:00Z'), merged('2026-05-02T10:19:59Z')];
  expect(toBoard({ ...EMPTY_BOARD_SNAPSHOT, autoMerged }, view).autoMerged).toEqual([autoMerged[0]]);
});

test.each([
  ['a fifth remains', 1_000, 60, 'ok'],
  ['less than a fifth remains', 999, 60, 'warning'],
  ['less than a twentieth remains', 249, 60, 'low'],
  ['nothing remains', 0, 60, 'exceeded'],
  ['nothing remained before the reset', 0, -60, 'low'],
])('withSeverity: sets the severity of an API quota when %s', (_reason, remaining, resetsInSeconds, severity) => {
  const resetsAt = new Date(at + resetsInSeconds * 1_000).toISOString();
  expect(withSeverity({ limit: 5_000, remaining, resetsAt, severity: 'ok' }, at)).toMatchObject({ severity });
});
