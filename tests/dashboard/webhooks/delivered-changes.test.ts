import { throttleWithBackoff } from '../../../src/dashboard/webhooks/delivered-changes.js';

/** Longer than any test: runs that wait for it start on close, or never. */
const NEVER_MS = 600_000;

const failures: unknown[] = [];
const open = (firstMs: number) =>
  throttleWithBackoff({ firstMs, mostMs: firstMs, quietMs: firstMs, report: (error) => void failures.push(error) });

/** Creates runs that record their start, and end on demand. */
function createRuns() {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const run = (name: string) => () => {
    begun.push(name);
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  return { begun, run, endAll: () => ends.splice(0).forEach((end) => end()) };
}

test('throttleWithBackoff: starts the first run at once, and one run for all requests during it or shortly after', async () => {
  const { begun, run, endAll } = createRuns();
  const reads = open(NEVER_MS);
  for (let count = 0; count < 1_000; count += 1) reads.request('shop', run(`${count}`));
  expect(begun).toEqual(['0']);
  endAll();
  await new Promise((next) => setImmediate(next));
  reads.request('shop', run('last'));
  expect(begun).toEqual(['0']);
  const closed = reads.close();
  await new Promise((next) => setImmediate(next));
  endAll();
  await closed;
  expect(begun).toEqual(['0', 'last']);
});

test('throttleWithBackoff: runs again after the delay, and at once after a pause without requests', async () => {
  const reads = open(1);
  const order: string[] = [];
  const request = (name: string) =>
    new Promise<void>((resolve) =>
      reads.request('shop', async () => {
        order.push(name);
        resolve();
      }),
    );
  await request('first');
  await request('second');
  await request('third');
  expect(order).toEqual(['first', 'second', 'third']);
  await reads.close();
});

test('throttleWithBackoff: a final request does not wait for the delay, and several in a row cause one run', async () => {
  const begun: string[] = [];
  const reads = throttleWithBackoff({
    firstMs: 8,
    mostMs: NEVER_MS,
    quietMs: 50,
    report: (error) => void failures.push(error),
  });
  const request = (name: string, isFinal = false) =>
    new Promise<void>((resolve) =>
      reads.request(
        'shop',
        async () => {
          begun.push(name);
          if (begun.length < 8) void request(name);
          resolve();
        },
        isFinal,
      ),
    );
  void request('step');
  while (begun.length < 8) await new Promise((next) => setTimeout(next, 1));
  // The next delay is 1,024 ms.
  const at = performance.now();
  await new Promise((next) => setImmediate(next));
  for (const name of ['end', 'next end', 'last end']) void request(name, true);
  while (begun.length < 9) await new Promise((next) => setTimeout(next, 1));
  expect(performance.now() - at).toBeLessThan(1_000);
  expect(begun.slice(8)).toEqual(['last end']);
  await reads.close();
});

test('throttleWithBackoff: runs each key independently', async () => {
  const { begun, run, endAll } = createRuns();
  const reads = open(NEVER_MS);
  reads.request('shop', run('shop'));
  reads.request('site', run('site'));
  expect(begun).toEqual(['shop', 'site']);
  endAll();
  await reads.close();
});

test('throttleWithBackoff: reports a failed run, and continues', async () => {
  const reads = open(NEVER_MS);
  const done: string[] = [];
  reads.request('shop', () => Promise.reject(new Error('The forge is away.')));
  reads.request('shop', async () => void done.push('second'));
  await reads.close();
  expect([failures, done]).toEqual([[new Error('The forge is away.')], ['second']]);
});

test('throttleWithBackoff: ignores requests after close', async () => {
  const { begun, run } = createRuns();
  const reads = open(NEVER_MS);
  await reads.close();
  reads.request('shop', run('late'));
  expect(begun).toEqual([]);
});
