import type { TokenCaller } from '../../../src/accounts/callers.js';
import { EMPTY_BOARD_SNAPSHOT } from '../../../src/dashboard/boards/board.js';
import { pullRequest } from '../pull-request.js';
import { openDashboard, type TestDashboard } from '../test-dashboard.js';

type Row = ReturnType<typeof pullRequest>;

let dashboard: TestDashboard;
let now: number;

beforeEach(async () => {
  now = Date.parse('2026-05-02T10:00:00Z');
  dashboard = await openDashboard({ now: () => now });
});
afterEach(() => dashboard.database.destroy());

/** Saves a board. @returns its time. */
async function save(...changes: readonly Partial<Row>[]): Promise<number> {
  now += 1_000;
  const pullRequests = changes.map((change) => pullRequest(change));
  await dashboard.boards.save(dashboard.ada.personId, { ...EMPTY_BOARD_SNAPSHOT, pullRequests });
  return now;
}
const visit = (time: number) => dashboard.visits.save(dashboard.ada, new Date(time));
const marks = async () => {
  const { pullRequests } = await dashboard.boards.read(dashboard.ada, {});
  return pullRequests.map(({ changedSinceVisit }) => changedSinceVisit);
};

test('changedSinceVisit: is absent before the first visit', async () => {
  await save({});
  expect(await marks()).toEqual([undefined]);
});

test('changedSinceVisit: marks changed and new pull requests until they have been seen', async () => {
  await visit(await save({ number: 1 }, { number: 2 }));
  expect(await marks()).toEqual([false, false]);
  const next = await save({ number: 1, ci: 'failure' }, { number: 2 }, { number: 3 });
  expect(await marks()).toEqual([true, false, true]);
  await save({ number: 1, ci: 'failure' }, { number: 2 }, { number: 3 });
  expect(await marks()).toEqual([true, false, true]);
  await visit(next);
  expect(await marks()).toEqual([false, false, false]);
});

test('changedSinceVisit: marks a change that is older than the seen board but was read later', async () => {
  const seen = await save({ updatedAt: '2026-05-01T00:00:00Z' });
  await visit(seen);
  await save({ updatedAt: new Date(seen - 10).toISOString() });
  expect(await marks()).toEqual([true]);
});

test('saving a visit: an earlier time changes nothing', async () => {
  const first = await save({});
  await visit(await save({ ci: 'failure' }));
  await visit(first);
  expect(await marks()).toEqual([false]);
});

test('saving a visit: a later time counts as that of the newest board', async () => {
  await save({});
  await visit(now + 3_600_000);
  await save({ ci: 'failure' });
  expect(await marks()).toEqual([true]);
});

test('saving a visit: before the first refresh, it counts for the empty board', async () => {
  await visit(now + 3_600_000);
  // A board is never older than the account.
  now = Date.now() + 1_000;
  await save({});
  expect(await marks()).toEqual([true]);
});

test('saving a visit: one without effect keeps the board version', async () => {
  const seen = await save({});
  await visit(seen);
  const { id } = (await dashboard.boards.findVersion(dashboard.ada.personId))!;
  await visit(seen);
  expect((await dashboard.boards.findVersion(dashboard.ada.personId))?.id).toBe(id);
});

test('changedSinceVisit: is absent for users who view a shared board', async () => {
  await dashboard.sharing.share(dashboard.ada, 'bob');
  await visit(await save({}));
  const { pullRequests } = await dashboard.boards.read(dashboard.bob, { owner: 'ada' });
  expect(pullRequests[0]).not.toHaveProperty('changedSinceVisit');
});

test('saving a visit: rejects tokens and invalid dates', async () => {
  const token: TokenCaller = { ...dashboard.ada, kind: 'token', tokenId: 't', scopes: ['read', 'write'] };
  await expect(dashboard.visits.save(token, new Date())).rejects.toMatchObject({ code: 'session_required' });
  await expect(visit(NaN)).rejects.toMatchObject({ code: 'invalid_input', field: 'seenAt' });
});
