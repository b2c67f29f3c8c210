import { createReadiness } from '../../src/storage/readiness.js';
import { openTestDatabase } from './engine.js';

test('readiness: reuses a result for three seconds, and then detects that the database is unavailable', async () => {
  let at = 0;
  const database = await openTestDatabase();
  const readiness = createReadiness(database, { now: () => at });
  expect(await readiness.isReady()).toBe(true);
  await database.destroy();
  at = 2_999;
  expect(await readiness.isReady()).toBe(true);
  at = 3_000;
  expect(await readiness.isReady()).toBe(false);
  await expect(readiness.require()).rejects.toMatchObject({ code: 'unavailable' });
});

test('readiness: ends at once when the server stops', async () => {
  const database = await openTestDatabase();
  const readiness = createReadiness(database);
  expect((await readiness.require()).openResources).toBeGreaterThan(0);
  readiness.stop();
  expect(await readiness.isReady()).toBe(false);
  await database.destroy();
});
