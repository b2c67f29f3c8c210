import type { Database } from '../../src/storage/database.js';
import { createRateCounts, deleteExpiredRateCounts, type RateCounts } from '../../src/storage/rate-counts.js';
import { openTestDatabase } from './engine.js';

let database: Database;
let time: number;
let counts: RateCounts;

beforeEach(async () => {
  database = await openTestDatabase();
  time = 1_000_000;
  counts = createRateCounts(database, { windowMs: 1000, now: () => time });
});
afterEach(() => database.destroy());

test('rate counts: each key is counted from its first call to the end of its window', async () => {
  expect(await counts.take('a')).toEqual({ taken: 1, resetsInMs: 1000 });
  time += 400;
  expect(await counts.take('a')).toEqual({ taken: 2, resetsInMs: 600 });
  expect(await counts.take('b')).toEqual({ taken: 1, resetsInMs: 1000 });
  expect(await counts.take('a', 10)).toEqual({ taken: 12, resetsInMs: 600 });
  time += 600;
  expect(await counts.take('a', 3)).toEqual({ taken: 3, resetsInMs: 1000 });
});

test('rate counts: a window ends when the clock is set back', async () => {
  expect(await counts.take('a', 5)).toEqual({ taken: 5, resetsInMs: 1000 });
  // The clocks of two servers may differ by milliseconds.
  time -= 10;
  expect(await counts.take('a', 5)).toEqual({ taken: 10, resetsInMs: 1010 });
  time -= 86_400_000;
  expect(await counts.take('a')).toEqual({ taken: 1, resetsInMs: 1000 });
});

test('rate counts: concurrent calls are all counted', async () => {
  const found = await Promise.all(Array.from({ length: 20 }, () => counts.take('a')));
  expect(found.map(({ taken }) => taken).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 20 }, (_, nth) => nth + 1),
  );
});

test('rate counts: expired windows are deleted', async () => {
  await counts.take('a');
  time += 500;
  await counts.take('b');
  await deleteExpiredRateCounts(database, time + 500);
  expect(await database.selectFrom('rate_counts').select('key').execute()).toEqual([{ key: 'b' }]);
});
