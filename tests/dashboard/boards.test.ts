import { EMPTY_SNAPSHOT } from '../../src/dashboard/board.js';
import { openDashboard } from './dashboard-of.js';
import type { TestDashboard } from './dashboard-of.js';
import { pullRequest } from './pull-request.js';

let dashboard: TestDashboard;
let now: number;

beforeEach(async () => {
  now = Date.parse('2026-05-02T10:00:00Z');
  dashboard = await openDashboard({ now: () => now });
  await dashboard.boards.save(dashboard.ada.personId, { ...EMPTY_SNAPSHOT, pullRequests: [pullRequest()] });
});
afterEach(() => dashboard.database.destroy());

const read = (look: object = {}, caller = dashboard.ada) => dashboard.boards.read(caller, look);
const everyLook = [{}, { includeDrafts: true }, { includeSnoozed: true }, { view: 'mine' }];

test('a board is the same object for as long as it is the same', async () => {
  await dashboard.views.save(dashboard.ada, { name: 'mine', filter: {}, sort: 'board', group: 'none' });
  for (const look of everyLook) expect(await read(look)).toBe(await read(look));
  const boards = await Promise.all(everyLook.map((look) => read(look)));
  expect(new Set(boards).size).toBe(everyLook.length);
  expect(boards.every(Object.isFrozen)).toBe(true);
});

test('everybody whom a board is shared with is given the same object, and its owner another', async () => {
  await dashboard.sharing.share(dashboard.ada, 'bob');
  const [shared, again] = await Promise.all([1, 2].map(() => read({ owner: 'ada' }, dashboard.bob)));
  expect(shared).toBe(again);
  expect(shared).not.toBe(await read({ owner: 'ada' }));
});

test('several who ask at once for a board that changed are given one object', async () => {
  await dashboard.boards.save(dashboard.ada.personId, EMPTY_SNAPSHOT);
  const [one, other] = await Promise.all([read(), read()]);
  expect(one).toBe(other);
});

test.each<[string, () => Promise<unknown>]>([
  ['refreshed, to the same', () => dashboard.boards.save(dashboard.ada.personId, EMPTY_SNAPSHOT)],
  ['visited', () => dashboard.visits.save(dashboard.ada, new Date(now))],
  [
    'relieved of something',
    () =>
      dashboard.snoozes.save(dashboard.ada, { forge: 'github', fullName: 'acme/shop', number: 17, untilChange: true }),
  ],
])('a board is another object once it is %s', async (_what, change) => {
  const before = await read();
  await change();
  const after = await read();
  expect(after).not.toBe(before);
  expect(await read()).toBe(after);
});

test('a board is another object when time alone makes it another', async () => {
  const mergedAt = new Date(now).toISOString();
  const resetsAt = new Date(now + 1_000_000).toISOString();
  const autoMerged = [{ forge: 'github', fullName: 'acme/shop', number: 1, mergedAt, message: '' } as const];
  const rateLimitREST = { limit: 10, remaining: 0, resetsAt, severity: 'ok' } as const;
  const forges = [{ forge: 'github', reachable: true, repoCount: 1, truncated: false, rateLimitREST } as const];
  await dashboard.boards.save(dashboard.ada.personId, { ...EMPTY_SNAPSHOT, autoMerged, forges });
  const look = async () => {
    const board = await read();
    expect(await read()).toBe(board);
    return [board.autoMerged.length, board.forges[0]?.rateLimitREST?.severity];
  };
  expect(await look()).toEqual([1, 'exceeded']);
  now += 600_001;
  expect(await look()).toEqual([0, 'exceeded']);
  now += 399_999;
  expect(await look()).toEqual([0, 'low']);
});
