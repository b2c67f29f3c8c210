import { singleFlightWithTrailingRun } from '../src/concurrency.js';

/** Creates runs that end one by one, on demand. */
function createRuns() {
  const ends: (() => void)[] = [];
  const begun: string[] = [];
  const run = (name: string) => () => {
    begun.push(name);
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  const end = async (): Promise<void> => {
    ends.shift()?.();
    await new Promise(setImmediate);
  };
  return { run, begun, end };
}

test('singleFlightWithTrailingRun: starts the first call at once, then one run for all calls during it', async () => {
  const share = singleFlightWithTrailingRun();
  const { run, begun, end } = createRuns();
  const done: string[] = [];
  const call = (name: string) => void share('board', run(name)).then(() => done.push(name));
  call('one');
  call('two');
  call('three');
  await end();
  expect([begun, done]).toEqual([['one', 'two'], ['one']]);
  call('four');
  await end();
  expect([begun, done]).toEqual([
    ['one', 'two', 'four'],
    ['one', 'two', 'three'],
  ]);
  await end();
  call('five');
  expect(begun).toContain('five');
});

test('singleFlightWithTrailingRun: runs each key independently', () => {
  const share = singleFlightWithTrailingRun();
  const { run, begun } = createRuns();
  void share('one', run('one'));
  void share('other', run('other'));
  expect(begun).toEqual(['one', 'other']);
});

test('singleFlightWithTrailingRun: a failed run rejects only its own calls', async () => {
  const share = singleFlightWithTrailingRun();
  const first = share('board', () => Promise.reject(new Error('first')));
  const second = share('board', () => Promise.reject(new Error('second')));
  const third = share('board', () => Promise.resolve());
  await expect(first).rejects.toThrow('first');
  await expect(second).rejects.toThrow('second');
  await expect(third).rejects.toThrow('second');
  await expect(share('board', () => Promise.resolve())).resolves.toBeUndefined();
});
