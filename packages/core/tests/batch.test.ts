import { batch } from '../src/concurrency.js';

/** Creates runs that the test completes, and records the batch of each. */
function createRuns() {
  const runs: { readonly taken: readonly string[]; readonly end: (error?: Error) => void }[] = [];
  const run = (take: () => readonly string[]): Promise<string[]> =>
    new Promise((resolve, reject) => {
      const taken = take();
      const succeed = () => resolve(taken.map((input) => input.toUpperCase()));
      runs.push({ taken, end: (error) => (error === undefined ? succeed() : reject(error)) });
    });
  /** Waits until this number of runs has begun, and returns the last. */
  const begun = async (count: number) => {
    while (runs.length < count) await new Promise((resolve) => setImmediate(resolve));
    return runs[count - 1]!;
  };
  return { runs, run, begun };
}

describe('batch', () => {
  test('concurrent calls share one run, and each gets its own result', async () => {
    const { runs, run, begun } = createRuns();
    const call = batch(10, run);
    const results = Promise.all(['a', 'b', 'a'].map(call));
    (await begun(1)).end();
    expect(await results).toEqual(['A', 'B', 'A']);
    expect(runs.map(({ taken }) => taken)).toEqual([['a', 'b', 'a']]);
  });

  test('with a concurrency of two, two runs at a time process different calls', async () => {
    const { runs, run, begun } = createRuns();
    const call = batch(10, run, { concurrency: 2 });
    const first = call('a');
    const one = await begun(1);
    const second = call('b');
    const two = await begun(2);
    const third = call('c');
    two.end();
    expect(await second).toBe('B');
    const three = await begun(3);
    one.end();
    three.end();
    expect(await Promise.all([first, third])).toEqual(['A', 'C']);
    expect(runs.map(({ taken }) => taken)).toEqual([['a'], ['b'], ['c']]);
  });

  test('a call during a run joins the next run', async () => {
    const { run, begun } = createRuns();
    const call = batch(10, run);
    const first = call('a');
    const running = await begun(1);
    const second = call('b');
    running.end();
    expect(await first).toBe('A');
    const next = await begun(2);
    expect(next.taken).toEqual(['b']);
    next.end();
    expect(await second).toBe('B');
  });

  test('a run takes at most the maximum batch size, in the order of the calls', async () => {
    const { runs, run, begun } = createRuns();
    const call = batch(2, run);
    const results = Promise.all(['a', 'b', 'c'].map(call));
    (await begun(1)).end();
    (await begun(2)).end();
    expect(await results).toEqual(['A', 'B', 'C']);
    expect(runs.map(({ taken }) => taken)).toEqual([['a', 'b'], ['c']]);
  });

  test('a failed run rejects only the calls of its batch', async () => {
    const { run, begun } = createRuns();
    const call = batch(1, run);
    const results = Promise.allSettled(['a', 'b'].map(call));
    (await begun(1)).end(new Error('away'));
    (await begun(2)).end();
    expect(await results).toMatchObject([{ reason: { message: 'away' } }, { value: 'B' }]);
  });

  test('a run that fails before it takes a batch rejects all waiting calls', async () => {
    const call = batch(10, () => Promise.reject(new Error('away')));
    expect(await Promise.allSettled(['a', 'b'].map(call))).toMatchObject([
      { reason: { message: 'away' } },
      { reason: { message: 'away' } },
    ]);
  });
});
