import { coalesced } from '../../../src/dashboard/refresh/coalesced.js';

/** Runs that end one by one, when told. */
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

test('runs for the first at once, and then once for all who came meanwhile', async () => {
  const share = coalesced();
  const { run, begun, end } = createRuns();
  const done: string[] = [];
  const ask = (name: string) => void share('board', run(name)).then(() => done.push(name));
  ask('one');
  ask('two');
  ask('three');
  await end();
  expect([begun, done]).toEqual([['one', 'two'], ['one']]);
  ask('four');
  await end();
  expect([begun, done]).toEqual([
    ['one', 'two', 'four'],
    ['one', 'two', 'three'],
  ]);
  await end();
  ask('five');
  expect(begun).toContain('five');
});

test('what is of another key has runs of its own', () => {
  const share = coalesced();
  const { run, begun } = createRuns();
  void share('one', run('one'));
  void share('other', run('other'));
  expect(begun).toEqual(['one', 'other']);
});

test('a run that fails fails for those who wait for it alone', async () => {
  const share = coalesced();
  const first = share('board', () => Promise.reject(new Error('first')));
  const second = share('board', () => Promise.reject(new Error('second')));
  const third = share('board', () => Promise.resolve());
  await expect(first).rejects.toThrow('first');
  await expect(second).rejects.toThrow('second');
  await expect(third).rejects.toThrow('second');
  await expect(share('board', () => Promise.resolve())).resolves.toBeUndefined();
});
