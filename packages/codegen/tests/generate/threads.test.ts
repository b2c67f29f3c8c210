import { divide } from '../../src/generate/run-output.js';

const LARGE = 150_000;

test.each([
  ['one thread runs everything', 1, { site: 30_000, a: 2 * LARGE, b: LARGE }, [['site', 'b', 'a']]],
  ['the largest leaves first', 2, { site: 30_000, b: LARGE, a: 2 * LARGE }, [['site', 'b'], ['a']]],
  ['each large one has a thread', 4, { site: 30_000, a: 2 * LARGE, b: LARGE }, [['site'], ['a'], ['b']]],
  ['the smallest large one stays', 4, { a: 2 * LARGE, b: LARGE }, [['b'], ['a']]],
  ['small ones share this thread', 4, { site: 30_000, a: 40_000 }, [['site', 'a']]],
  ['there may be none', 4, {}, [[]]],
])('divide: %s', (_, parallelism, sizes, expected) => {
  const outputs = Object.entries(sizes).map(([output, size]) => ({ output, size }));
  const groups = divide(outputs, parallelism);
  const sorted = (lists: readonly (readonly string[])[]) => lists.map((list) => [...list].sort());
  expect(sorted(groups)).toEqual(sorted(expected));
});
