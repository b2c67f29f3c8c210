import { EventEmitter, once } from 'node:events';
import { createReadiness, startCleanupJob } from '../../src/storage/running-server.js';
import { openTestDatabase } from './engine.js';

test('readiness: reuses a result for three seconds, and then detects that the database is unavailable', async () => {
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

test('readiness: ends at once when the server stops', async () => {
  const database = await openTestDatabase();
  const readiness = createReadiness(database);
  expect((await readiness.require()).openResources).toBeGreaterThan(0);
  readiness.stop();
  expect(await readiness.isReady()).toBe(false);
  await database.destroy();
});

test('the cleanup job runs at once and periodically, even after an error, until it is closed', async () => {
  const rounds = new EventEmitter();
  let count = 0;
  const errors: unknown[] = [];
  const failure = new Error('locked');
  const sweeper = startCleanupJob({
    tasks: [
      () => Promise.reject(failure),
      async () => {
        count += 1;
        rounds.emit('done');
      },
    ],
    intervalMs: 1,
    report: (error) => errors.push(error),
  });
  await once(rounds, 'done');
  await once(rounds, 'done');
  await sweeper.close();
  expect(errors.slice(0, 2)).toEqual([failure, failure]);
  expect(errors).toHaveLength(count);
});
