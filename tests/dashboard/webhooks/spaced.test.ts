import { spaced } from '../../../src/dashboard/webhooks/spaced.js';

/** Longer than any test: what waits for it runs when it is closed, or never. */
const NEVER_MS = 600_000;

const failures: unknown[] = [];
const open = (firstMs: number) => spaced({ firstMs, mostMs: firstMs, report: (error) => void failures.push(error) });

/** A run that says when it began, and ends when it is told. */
function createRuns() {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const run = (name: string) => () => {
    begun.push(name);
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  return { begun, run, endAll: () => ends.splice(0).forEach((end) => end()) };
}

test('runs the first at once, and once for all who ask while it runs or shortly after', async () => {
  const { begun, run, endAll } = createRuns();
  const reads = open(NEVER_MS);
  for (let count = 0; count < 1_000; count += 1) reads.ask('shop', run(`${count}`));
  expect(begun).toEqual(['0']);
  endAll();
  await new Promise((next) => setImmediate(next));
  reads.ask('shop', run('last'));
  expect(begun).toEqual(['0']);
  const closed = reads.close();
  await new Promise((next) => setImmediate(next));
  endAll();
  await closed;
  expect(begun).toEqual(['0', 'last']);
});

test('runs again when the distance is over, and at once when nobody asked for a while', async () => {
  const reads = open(1);
  const order: string[] = [];
  const asked = (name: string) =>
    new Promise<void>((resolve) =>
      reads.ask('shop', async () => {
        order.push(name);
        resolve();
      }),
    );
  await asked('first');
  await asked('second');
  await asked('third');
  expect(order).toEqual(['first', 'second', 'third']);
  await reads.close();
});

test('keeps keys apart', async () => {
  const { begun, run, endAll } = createRuns();
  const reads = open(NEVER_MS);
  reads.ask('shop', run('shop'));
  reads.ask('site', run('site'));
  expect(begun).toEqual(['shop', 'site']);
  endAll();
  await reads.close();
});

test('tells of a run that fails, and goes on', async () => {
  const reads = open(NEVER_MS);
  const done: string[] = [];
  reads.ask('shop', () => Promise.reject(new Error('The forge is away.')));
  reads.ask('shop', async () => void done.push('second'));
  await reads.close();
  expect([failures, done]).toEqual([[new Error('The forge is away.')], ['second']]);
});

test('runs nothing that is asked for when it is closed', async () => {
  const { begun, run } = createRuns();
  const reads = open(NEVER_MS);
  await reads.close();
  reads.ask('shop', run('late'));
  expect(begun).toEqual([]);
});
