import { EMPTY_BOARD_SNAPSHOT } from '../../../src/dashboard/boards/board.js';
import { createRefreshes } from '../../../src/dashboard/refresh/refresher.js';
import { pullRequest } from '../pull-request.js';
import { openDashboard, type TestDashboard } from '../test-dashboard.js';

let dashboard: TestDashboard;
let clock = 1_000_000;
const refreshed: string[] = [];
let underWay: PromiseWithResolvers | undefined;

interface PromiseWithResolvers {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

function hold(): PromiseWithResolvers {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

const refresh = async (personId: string): Promise<void> => {
  refreshed.push(personId);
  await underWay?.promise;
};

beforeEach(async () => {
  dashboard = await openDashboard({ refresh, now: () => clock });
  refreshed.length = 0;
  underWay = undefined;
});
afterEach(() => dashboard.database.destroy());

test('refreshes.run: returns the board that the refresh saved', async () => {
  const { database, boards, ada } = dashboard;
  const found = { ...EMPTY_BOARD_SNAPSHOT, pullRequests: [pullRequest()] };
  const refreshes = createRefreshes({ database, boards, refresh: (id) => boards.save(id, found) });
  expect((await refreshes.run(ada, {})).pullRequests).toHaveLength(1);
});

test('refreshes.run: concurrent calls share one refresh', async () => {
  const { refreshes, ada } = dashboard;
  underWay = hold();
  const runs = [refreshes.run(ada, {}), refreshes.run(ada, {})];
  underWay.resolve();
  await Promise.all(runs);
  expect(refreshed).toEqual([ada.personId]);
});

test('refreshes.run: rejects calls within 30 seconds in any process, with Retry-After', async () => {
  const { refreshes, database, boards, ada } = dashboard;
  const other = createRefreshes({ database, boards, refresh, now: () => clock });
  await refreshes.run(ada, {});
  clock += 29_001;
  await expect(other.run(ada, {})).rejects.toMatchObject({ code: 'rate_limited', headers: { 'Retry-After': '1' } });
  clock += 999;
  await other.run(ada, {});
  await expect(refreshes.run(ada, {})).rejects.toMatchObject({ headers: { 'Retry-After': '30' } });
  expect(refreshed).toHaveLength(2);
});

test('refreshes.run: limits each user separately', async () => {
  const { refreshes, settings, ada, bob } = dashboard;
  await settings.save(bob, {});
  await refreshes.run(ada, {});
  await refreshes.run(bob, {});
  expect(refreshed).toEqual([ada.personId, bob.personId]);
});

test('refreshes.run: fails with not_found until forge settings are saved, even if they were read', async () => {
  const { refreshes, settings, bob } = dashboard;
  await settings.read(bob);
  await expect(refreshes.run(bob, {})).rejects.toMatchObject({ code: 'not_found' });
});
