import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BoardEvent } from '../../../src/dashboard/boards/board-streams.js';
import { EMPTY_BOARD_SNAPSHOT } from '../../../src/dashboard/boards/board.js';
import { pullRequest } from '../pull-request.js';
import { openDashboard, type TestDashboard } from '../test-dashboard.js';

let dashboard: TestDashboard;
let leaving: AbortController;
/** A fixed time for the boards; `undefined` for the real time. */
let at: number | undefined;

beforeEach(async () => {
  // The polling interval is longer than any test, so that only notifications of this process count.
  at = undefined;
  dashboard = await openDashboard({ pollMs: 600_000, now: () => at ?? Date.now() });
  leaving = new AbortController();
  // One signal ends many streams.
  setMaxListeners(0, leaving.signal);
});
afterEach(async () => {
  leaving.abort();
  await dashboard.database.destroy();
});

const save = (count: number) =>
  dashboard.boards.save(dashboard.ada.personId, {
    ...EMPTY_BOARD_SNAPSHOT,
    pullRequests: Array.from({ length: count }, (_, index) => pullRequest({ number: index + 1, draft: index > 0 })),
  });

interface Options {
  readonly includeDrafts?: boolean;
  readonly includeSnoozed?: boolean;
}

async function open(lastEventId?: string, options: Options = {}): Promise<AsyncIterator<BoardEvent, undefined>> {
  const request = { ...options, lastEventId, signal: leaving.signal };
  const events = await dashboard.streams.open(dashboard.ada, request);
  return events[Symbol.asyncIterator]() as AsyncIterator<BoardEvent, undefined>;
}

test('board stream: slow clients skip intermediate versions', async () => {
  const events = await open(undefined, { includeDrafts: true });
  await events.next();
  for (const count of [1, 2, 3]) await save(count);
  expect((await events.next()).value?.data.pullRequests).toHaveLength(3);
  const next = events.next();
  await save(4);
  expect((await next).value?.data.pullRequests).toHaveLength(4);
});

test('board stream: sends a board that was saved between two reads', async () => {
  const events = await open();
  const { id } = (await events.next()).value!;
  await save(1);
  const second = (await events.next()).value!;
  expect(second.id).not.toBe(id);
  expect(second.data.pullRequests).toHaveLength(1);
});

test('board stream: the event id depends on whether drafts are included', async () => {
  await save(2);
  const { id } = (await (await open()).next()).value!;
  const again = await open(id, { includeDrafts: true });
  expect((await again.next()).value?.data.pullRequests).toHaveLength(2);
});

test('board stream: a snoozed pull request disappears, and reappears when the snooze ends', async () => {
  await save(1);
  const events = await open();
  await events.next();
  at = Date.now();
  const until = new Date(at + 100);
  const one = { forge: 'github', fullName: 'acme/shop', number: 1 } as const;
  await dashboard.snoozes.save(dashboard.ada, { ...one, until, untilChange: false });
  expect((await events.next()).value?.data).toMatchObject({ pullRequests: [], hiddenSnoozed: 1 });
  at = undefined;
  expect((await events.next()).value?.data).toMatchObject({ pullRequests: [{ number: 1 }], hiddenSnoozed: 0 });
  expect(Date.now()).toBeGreaterThanOrEqual(until.getTime());
});

test('board stream: waits for the end of a snooze by the clock of the database', async () => {
  await save(1);
  // The clock of this machine is a minute ahead.
  at = Date.now() - 60_000;
  const one = { forge: 'github', fullName: 'acme/shop', number: 1 } as const;
  await dashboard.snoozes.save(dashboard.ada, { ...one, until: new Date(at + 30_000), untilChange: false });
  const { boards } = dashboard;
  const findVersion = boards.findVersion.bind(boards);
  let reads = 0;
  Object.assign(boards, {
    findVersion(personId: string) {
      reads += 1;
      return findVersion(personId);
    },
  });
  const events = await open();
  await events.next();
  void events.next();
  await sleep(200);
  expect(reads).toBe(1);
});

test('board stream: keeps snoozed pull requests if they are included, with a different event id', async () => {
  await save(1);
  const { id } = (await (await open()).next()).value!;
  const events = await open(id, { includeSnoozed: true });
  await events.next();
  const one = { forge: 'github', fullName: 'acme/shop', number: 1 } as const;
  await dashboard.snoozes.save(dashboard.ada, { ...one, until: undefined, untilChange: true });
  const { data } = (await events.next()).value!;
  expect(data).toMatchObject({ pullRequests: [{ number: 1, snooze: { untilChange: true } }], hiddenSnoozed: 0 });
});

test('board stream: a visit changes the board once', async () => {
  await save(1);
  const events = await open();
  const { data } = (await events.next()).value!;
  const visit = () => dashboard.visits.save(dashboard.ada, new Date(data.generatedAt));
  await visit();
  expect((await events.next()).value?.data.pullRequests).toMatchObject([{ changedSinceVisit: false }]);
  await visit();
  await save(2);
  expect((await events.next()).value?.data).toMatchObject({ hiddenDrafts: 1 });
});

test('board versions: boards saved in the same millisecond have different ids', async () => {
  const { boards, ada } = dashboard;
  const times = [];
  for (const count of [1, 2, 3]) {
    await save(count);
    times.push((await boards.findVersion(ada.personId))?.id);
  }
  expect(new Set(times).size).toBe(3);
});

test('board stream: ends when the client disconnects, and when the user is deleted', async () => {
  const events = await open();
  await events.next();
  const last = events.next();
  leaving.abort();
  expect(await last).toMatchObject({ done: true });
  leaving = new AbortController();
  const others = await open();
  await others.next();
  await dashboard.database.deleteFrom('people').where('id', '=', dashboard.ada.personId).execute();
  const end = others.next();
  await dashboard.boards.save(dashboard.ada.personId, EMPTY_BOARD_SNAPSHOT).catch(() => undefined);
  leaving.abort();
  expect(await end).toMatchObject({ done: true });
});

test('board stream: closed streams no longer count towards the limit', async () => {
  await Promise.all(Array.from({ length: 16 }, () => open()));
  await expect(open()).rejects.toMatchObject({ code: 'rate_limited', headers: { 'Retry-After': '15' } });
  leaving.abort();
  leaving = new AbortController();
  const events = await open();
  expect((await events.next()).done).toBe(false);
});
