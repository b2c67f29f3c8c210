import { acquireLease, endLease } from '../../src/dashboard/refresh/lease.js';
import { scheduleNow } from '../../src/dashboard/refresh/schedule.js';
import { startDatabaseClock } from '../../src/storage/readiness.js';
import { engine, openTestDatabase } from './engine.js';

const HOUR_MS = 3_600_000;

/** Longer than any round trip on a busy machine, and far shorter than an hour. */
const TOLERANCE_MS = 300_000;

const ownNow = Date.now;
afterEach(() => {
  Date.now = ownNow;
});

test.each([-HOUR_MS, HOUR_MS])(
  'a server whose clock differs by %i ms uses the time of PostgreSQL',
  async (difference) => {
    if (engine === 'SQLite') return;
    const database = await openTestDatabase();
    Date.now = () => ownNow() + difference;
    const clock = await startDatabaseClock(database);
    expect(Math.abs(clock.now() - ownNow())).toBeLessThan(TOLERANCE_MS);
    expect(Number.isSafeInteger(clock.now())).toBe(true);
    clock.close();
    await database.destroy();
  },
);

test('a server whose clock is an hour ahead does not acquire the lease of another, and is not kept from a free one', async () => {
  if (engine === 'SQLite') return;
  const database = await openTestDatabase();
  await database
    .insertInto('people')
    .values({ id: 'p', username: 'ada', username_key: 'ada', display_name: 'Ada', is_admin: 1, created_at: 1 })
    .execute();
  const right = await startDatabaseClock(database);
  Date.now = () => ownNow() + HOUR_MS;
  const wrong = await startDatabaseClock(database);
  await scheduleNow(database, 'p', right.now());
  // Half an hour ahead, so that the lease outlasts the test and would have expired for the wrong clock.
  const lease = await acquireLease(database, 'p', { at: right.now() + HOUR_MS / 2, scope: 'due' });
  expect(lease).toBeDefined();
  expect(await acquireLease(database, 'p', { at: wrong.now(), scope: { wholeSince: 0 } })).toBeUndefined();
  const dueAt = right.now();
  await endLease(database, lease!, { dueAt, lookAt: dueAt, isDone: true });
  expect(await acquireLease(database, 'p', { at: wrong.now() + TOLERANCE_MS, scope: 'due' })).toBeDefined();
  for (const clock of [right, wrong]) clock.close();
  await database.destroy();
});

test('on SQLite, which one server uses, the time is that of the server', async () => {
  if (engine !== 'SQLite') return;
  const database = await openTestDatabase();
  Date.now = () => 1_795_000_000_000;
  const { now } = await startDatabaseClock(database);
  expect(now()).toBe(1_795_000_000_000);
  await database.destroy();
});
