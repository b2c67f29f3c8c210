import { EMPTY_BOARD_SNAPSHOT } from '../../../src/dashboard/boards/board.js';
import { pullRequest } from '../pull-request.js';
import { openDashboard, type TestDashboard } from '../test-dashboard.js';

let dashboard: TestDashboard;
let now: number;

beforeEach(async () => {
  now = Date.parse('2026-05-02T10:00:00Z');
  dashboard = await openDashboard({ now: () => now });
  await dashboard.boards.save(dashboard.ada.personId, { ...EMPTY_BOARD_SNAPSHOT, pullRequests: [pullRequest()] });
});
afterEach(() => dashboard.database.destroy());

const read = (options: object = {}, caller = dashboard.ada) => dashboard.boards.read(caller, options);
const everyOption = [{}, { includeDrafts: true }, { includeSnoozed: true }, { view: 'mine' }];

test('boards.read: returns the same frozen object until the board changes', async () => {
  await dashboard.views.save(dashboard.ada, { name: 'mine', filter: {}, sort: 'board', group: 'none' });
  for (const options of everyOption) expect(await read(options)).toBe(await read(options));
  const boards = await Promise.all(everyOption.map((options) => read(options)));
  expect(new Set(boards).size).toBe(everyOption.length);
  expect(boards.every(Object.isFrozen)).toBe(true);
});

test('boards.read: returns the same object to all viewers of a shared board, but not to its owner', async () => {
  await dashboard.sharing.share(dashboard.ada, 'bob');
  const [shared, again] = await Promise.all([1, 2].map(() => read({ owner: 'ada' }, dashboard.bob)));
  expect(shared).toBe(again);
  expect(shared).not.toBe(await read({ owner: 'ada' }));
});

test('boards.read: concurrent reads of a changed board return the same object', async () => {
  await dashboard.boards.save(dashboard.ada.personId, EMPTY_BOARD_SNAPSHOT);
  const [one, other] = await Promise.all([read(), read()]);
  expect(one).toBe(other);
});

test.each<[string, () => Promise<unknown>]>([
  ['refreshed without a change', () => dashboard.boards.save(dashboard.ada.personId, EMPTY_BOARD_SNAPSHOT)],
  ['visited', () => dashboard.visits.save(dashboard.ada, new Date(now))],
  [
    'changed by a snooze',
    () =>
      dashboard.snoozes.save(dashboard.ada, { forge: 'github', fullName: 'acme/shop', number: 17, untilChange: true }),
  ],
])('boards.read: returns a new object once the board is %s', async (_what, change) => {
  const before = await read();
  await change();
  const after = await read();
  expect(after).not.toBe(before);
  expect(await read()).toBe(after);
});

test('boards.read: returns a new object when the passing of time changes the board', async () => {
  const mergedAt = new Date(now).toISOString();
  const resetsAt = new Date(now + 1_000_000).toISOString();
  const autoMerged = [{ forge: 'github', fullName: 'acme/shop', number: 1, mergedAt, message: '' } as const];
  const rateLimitREST = { limit: 10, remaining: 0, resetsAt, severity: 'ok' } as const;
  const forges = [{ forge: 'github', reachable: true, repoCount: 1, truncated: false, rateLimitREST } as const];
  await dashboard.boards.save(dashboard.ada.personId, { ...EMPTY_BOARD_SNAPSHOT, autoMerged, forges });
  const readAgain = async () => {
    const board = await read();
    expect(await read()).toBe(board);
    return [board.autoMerged.length, board.forges[0]?.rateLimitREST?.severity];
  };
  expect(await readAgain()).toEqual([1, 'exceeded']);
  now += 600_001;
  expect(await readAgain()).toEqual([0, 'exceeded']);
  now += 399_999;
  expect(await readAgain()).toEqual([0, 'low']);
});
