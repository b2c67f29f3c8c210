import { together } from '../src/together.js';

/** Runs whose end is decided from outside; each is told what it took. */
function createRuns() {
  const runs: { readonly taken: readonly string[]; readonly end: (error?: Error) => void }[] = [];
  const run = (take: () => readonly string[]): Promise<string[]> =>
    new Promise((resolve, reject) => {
      const taken = take();
      const answer = () => resolve(taken.map((given) => given.toUpperCase()));
      runs.push({ taken, end: (error) => (error === undefined ? answer() : reject(error)) });
    });
  /** Waits until so many have begun. */
  const begun = async (count: number) => {
    while (runs.length < count) await new Promise((resolve) => setImmediate(resolve));
    return runs[count - 1]!;
  };
  return { runs, run, begun };
}

test('those that ask at once are answered by one run, each with its own', async () => {
  const { runs, run, begun } = createRuns();
  const ask = together(10, run);
  const answers = Promise.all(['a', 'b', 'a'].map(ask));
  (await begun(1)).end();
  expect(await answers).toEqual(['A', 'B', 'A']);
  expect(runs.map(({ taken }) => taken)).toEqual([['a', 'b', 'a']]);
});

test('whoever comes while a run is under way is answered by one that began later', async () => {
  const { run, begun } = createRuns();
  const ask = together(10, run);
  const first = ask('a');
  const running = await begun(1);
  const second = ask('b');
  running.end();
  expect(await first).toBe('A');
  const next = await begun(2);
  expect(next.taken).toEqual(['b']);
  next.end();
  expect(await second).toBe('B');
});

test('a run takes no more than it may, in the order they came', async () => {
  const { runs, run, begun } = createRuns();
  const ask = together(2, run);
  const answers = Promise.all(['a', 'b', 'c'].map(ask));
  (await begun(1)).end();
  (await begun(2)).end();
  expect(await answers).toEqual(['A', 'B', 'C']);
  expect(runs.map(({ taken }) => taken)).toEqual([['a', 'b'], ['c']]);
});

test('a run that fails is the matter of those alone whom it took', async () => {
  const { run, begun } = createRuns();
  const ask = together(1, run);
  const answers = Promise.allSettled(['a', 'b'].map(ask));
  (await begun(1)).end(new Error('away'));
  (await begun(2)).end();
  expect(await answers).toMatchObject([{ reason: { message: 'away' } }, { value: 'B' }]);
});

test('a run that fails before it takes anybody fails for all who wait', async () => {
  const ask = together(10, () => Promise.reject(new Error('away')));
  expect(await Promise.allSettled(['a', 'b'].map(ask))).toMatchObject([
    { reason: { message: 'away' } },
    { reason: { message: 'away' } },
  ]);
});
