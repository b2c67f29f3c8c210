import { EMPTY_BOARD_SNAPSHOT } from '../../../src/dashboard/boards/board.js';
import { deleteExpiredDashboardData } from '../../../src/dashboard/dashboard.js';
import type { ThroughputRequest } from '../../../src/dashboard/insights/throughput.js';
import { pullRequest } from '../pull-request.js';
import { openDashboard, type TestDashboard } from '../test-dashboard.js';

let dashboard: TestDashboard;
let now: number;

beforeEach(async () => {
  now = Date.parse('2026-05-02T10:00:00Z');
  dashboard = await openDashboard({ now: () => now });
});
afterEach(() => dashboard.database.destroy());

const read = (request: Partial<ThroughputRequest> = {}, caller = dashboard.ada) =>
  dashboard.throughput.read(caller, { days: 30, per: 'day', ...request });
const save = (open: number) => {
  const pullRequests = Array.from({ length: open }, (_none, index) => pullRequest({ number: index + 1 }));
  return dashboard.boards.save(dashboard.ada.personId, { ...EMPTY_BOARD_SNAPSHOT, pullRequests });
};
const waitDays = (days: number) => void (now += days * 86_400_000);
const count = (day: string, opened: number, left: number) =>
  dashboard.database
    .insertInto('throughput_days')
    .values({ person_id: dashboard.ada.personId, day, opened_count: opened, left_count: left, open_count: 1 })
    .execute();

test('throughput.read: has no periods before the first board', async () => {
  expect(await read()).toEqual({ timezone: 'UTC', per: 'day', periods: [] });
});

test('throughput.read: a day has the open count of its last board; days without a board have none', async () => {
  await save(3);
  await save(2);
  waitDays(2);
  await save(5);
  expect(await read()).toEqual({
    timezone: 'UTC',
    since: '2026-05-02',
    per: 'day',
    periods: [
      { start: '2026-05-02', opened: 0, left: 0, open: 2 },
      { start: '2026-05-03', opened: 0, left: 0 },
      { start: '2026-05-04', opened: 0, left: 0, open: 5 },
    ],
  });
});

test('throughput.read: weeks are complete, including the first one', async () => {
  await count('2026-04-12', 100, 100);
  await count('2026-04-13', 1, 2);
  await count('2026-04-19', 3, 4);
  await count('2026-04-20', 5, 6);
  await save(7);
  // The first of the 18 days, 2026-04-15, is a Wednesday.
  const { periods } = await read({ days: 18, per: 'week' });
  expect(periods).toEqual([
    { start: '2026-04-13', opened: 4, left: 6, open: 1 },
    { start: '2026-04-20', opened: 5, left: 6, open: 1 },
    { start: '2026-04-27', opened: 0, left: 0, open: 7 },
  ]);
});

test("throughput.read: days are in the owner's time zone, for viewers of a shared board too", async () => {
  now = Date.parse('2026-05-02T22:30:00Z');
  await dashboard.preferences.saveTimezone(dashboard.ada, 'Europe/Berlin');
  await save(1);
  await dashboard.sharing.share(dashboard.ada, 'bob');
  const own = await read();
  expect(own).toMatchObject({ timezone: 'Europe/Berlin', since: '2026-05-03', periods: [{ start: '2026-05-03' }] });
  expect(await read({ owner: 'ada' }, dashboard.bob)).toEqual(own);
});

test('throughput.read: after a change to a time zone further west, today appears when it begins there', async () => {
  now = Date.parse('2026-05-02T22:30:00Z');
  await dashboard.preferences.saveTimezone(dashboard.ada, 'Asia/Tokyo');
  await save(1);
  await dashboard.preferences.saveTimezone(dashboard.ada, 'America/New_York');
  expect((await read()).periods.at(-1)).toEqual({ start: '2026-05-02', opened: 0, left: 0 });
  waitDays(1);
  expect((await read()).periods).toEqual([{ start: '2026-05-03', opened: 0, left: 0, open: 1 }]);
});

test('throughput.read: an unknown time zone counts as UTC', async () => {
  await dashboard.database.updateTable('settings').set({ timezone: 'Mars/Olympus' }).execute();
  await save(1);
  expect(await read()).toMatchObject({ timezone: 'UTC', periods: [{ start: '2026-05-02' }] });
});

test('daily counts: are deleted after 400 days, and with their user', async () => {
  const { database, ada } = dashboard;
  await count('2025-03-27', 1, 1);
  await count('2025-03-28', 1, 1);
  await deleteExpiredDashboardData(database, now);
  const rows = () => database.selectFrom('throughput_days').select('day').execute();
  expect(await rows()).toEqual([{ day: '2025-03-28' }]);
  await database.deleteFrom('people').where('id', '=', ada.personId).execute();
  expect(await rows()).toEqual([]);
});

test.each([
  ['a user who does not share it', 'ada', 'forbidden'],
  ['an unknown user', 'mona', 'not_found'],
])('throughput.read: rejects the board of %s', async (_reason, owner, code) => {
  await expect(read({ owner }, dashboard.bob)).rejects.toMatchObject({ code });
});

test('throughput.read: requires a caller', async () => {
  await expect(dashboard.throughput.read(undefined, { days: 30, per: 'day' })).rejects.toMatchObject({
    code: 'unauthenticated',
  });
});
