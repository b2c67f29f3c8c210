import { EventEmitter, once } from 'node:events';
import { startCleanupJob } from '../../src/storage/cleanup-job.js';

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

test('the cleanup job has a status, and runs again when it is asked to', async () => {
  const rounds = new EventEmitter();
  const tasks = [() => Promise.reject(new Error('locked')), async () => void setImmediate(() => rounds.emit('done'))];
  const job = startCleanupJob({ tasks, intervalMs: 3_600_000, report: () => undefined });
  expect(job.status).toEqual({ isRunning: true, endedAt: undefined, failures: 0 });
  await once(rounds, 'done');
  expect(job.status).toMatchObject({ isRunning: false, failures: 1 });
  job.runNow();
  await once(rounds, 'done');
  await job.close();
});
