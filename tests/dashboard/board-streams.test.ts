import { setMaxListeners } from 'node:events';
import { EMPTY_SNAPSHOT } from '../../src/dashboard/board.js';
import type { BoardEvent } from '../../src/dashboard/board-streams.js';
import { openDashboard } from './dashboard-of.js';
import type { TestDashboard } from './dashboard-of.js';
import { pullRequest } from './pull-request.js';

let dashboard: TestDashboard;
let leaving: AbortController;
/** The time of the boards, where it stands still. */
let at: number | undefined;

beforeEach(async () => {
  // Only what this process is told of counts here: a look in between would take until the test is over.
  at = undefined;
  dashboard = await openDashboard({ pollMs: 600_000, now: () => at ?? Date.now() });
  leaving = new AbortController();
  // Of one reader, who has many streams here.
  setMaxListeners(0, leaving.signal);
});
afterEach(async () => {
  leaving.abort();
  await dashboard.database.destroy();
});

const save = (count: number) =>
  dashboard.boards.save(dashboard.ada.personId, {
    ...EMPTY_SNAPSHOT,
    pullRequests: Array.from({ length: count }, (_, index) => pullRequest({ number: index + 1, draft: index > 0 })),
  });

interface Look {
  readonly includeDrafts?: boolean;
  readonly includeSnoozed?: boolean;
}

async function open(lastEventId?: string, look: Look = {}): Promise<AsyncIterator<BoardEvent, undefined>> {
  const request = { ...look, lastEventId, signal: leaving.signal };
  const events = await dashboard.streams.open(dashboard.ada, request);
  return events[Symbol.asyncIterator]() as AsyncIterator<BoardEvent, undefined>;
}

test('whoever is slow gets the newest board and misses those between', async () => {
  const events = await open(undefined, { includeDrafts: true });
  await events.next();
  for (const count of [1, 2, 3]) await save(count);
  expect((await events.next()).value?.data.pullRequests).toHaveLength(3);
  const next = events.next();
  await save(4);
  expect((await next).value?.data.pullRequests).toHaveLength(4);
});

test('what is saved while the reader waits, or before it asks again, is not missed', async () => {
  const events = await open();
  const { id } = (await events.next()).value!;
  await save(1);
  const second = (await events.next()).value!;
  expect(second.id).not.toBe(id);
  expect(second.data.pullRequests).toHaveLength(1);
});

test('a board with drafts is another one than without', async () => {
  await save(2);
  const { id } = (await (await open()).next()).value!;
  const again = await open(id, { includeDrafts: true });
  expect((await again.next()).value?.data.pullRequests).toHaveLength(2);
});

test('what is set aside leaves the board of a stream, and comes back by itself', async () => {
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

test('what is set aside stays on the board of a stream that includes it, which is another one than without', async () => {
  await save(1);
  const { id } = (await (await open()).next()).value!;
  const events = await open(id, { includeSnoozed: true });
  await events.next();
  const one = { forge: 'github', fullName: 'acme/shop', number: 1 } as const;
  await dashboard.snoozes.save(dashboard.ada, { ...one, until: undefined, untilChange: true });
  const { data } = (await events.next()).value!;
  expect(data).toMatchObject({ pullRequests: [{ number: 1, snooze: { untilChange: true } }], hiddenSnoozed: 0 });
});

test('a visit is another board, once', async () => {
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

test('two boards that are saved in one moment are two', async () => {
  const { boards, ada } = dashboard;
  const times = [];
  for (const count of [1, 2, 3]) {
    await save(count);
    times.push((await boards.findVersion(ada.personId))?.id);
  }
  expect(new Set(times).size).toBe(3);
});

test('ends when the reader leaves, and when the person is gone', async () => {
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
  await dashboard.boards.save(dashboard.ada.personId, EMPTY_SNAPSHOT).catch(() => undefined);
  leaving.abort();
  expect(await end).toMatchObject({ done: true });
});

test('those that are left make room, read or not', async () => {
  await Promise.all(Array.from({ length: 16 }, () => open()));
  await expect(open()).rejects.toMatchObject({ code: 'rate_limited', headers: { 'Retry-After': '15' } });
  leaving.abort();
  leaving = new AbortController();
  const events = await open();
  expect((await events.next()).done).toBe(false);
});
