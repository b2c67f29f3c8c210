import { createReadiness } from '../../src/storage/readiness.js';
import { openTestDatabase } from './engine.js';

test('reuses an answer for three seconds, and then sees that the database is gone', async () => {
  let at = 0;
  const database = await openTestDatabase();
  const readiness = createReadiness(database, () => at);
  expect(await readiness.isReady()).toBe(true);
  await database.destroy();
  at = 2_999;
  expect(await readiness.isReady()).toBe(true);
  at = 3_000;
  expect(await readiness.isReady()).toBe(false);
  await expect(readiness.require()).rejects.toMatchObject({ code: 'unavailable' });
});

test('is over at once when the server is told to stop', async () => {
  const database = await openTestDatabase();
  const readiness = createReadiness(database);
  expect((await readiness.require()).openResources).toBeGreaterThan(0);
  readiness.stop();
  expect(await readiness.isReady()).toBe(false);
  await database.destroy();
});
