import { AmbiguousPaths, findClientOnly } from '../../src/openapi/paths.js';

const isVariable = (segment: string): boolean => segment.includes('{');

/** Compares two paths by their segments, as the definition says. */
function areAmbiguous(one: string, other: string): boolean {
  const [left, right] = [one.split('/'), other.split('/')];
  const count = (segments: readonly string[]): number => segments.filter(isVariable).length;
  if (left.length !== right.length || count(left) !== count(right)) return false;
  return left.every((text, index) => text === right[index] || isVariable(text) || isVariable(right[index] ?? ''));
}

/** A sequence of numbers below a limit that is the same in every run (Numerical Recipes, 7.1). */
function createSequence(): (limit: number) => number {
  let state = 1;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

test('AmbiguousPaths: finds the first path that a request may match too', () => {
  const next = createSequence();
  const parts = ['a', 'b', 'c', '{x}', '{y}', '{x}.json', 'p{z}'];
  let found = 0;
  for (let run = 0; run < 500; run += 1) {
    const index = new AmbiguousPaths();
    const paths: string[] = [];
    for (let count = 0; count < 30; count += 1) {
      const path = `/${Array.from({ length: next(4) + 1 }, () => parts[next(parts.length)]).join('/')}`;
      const expected = paths.find((one) => areAmbiguous(one, path));
      expect([path, index.add(path)]).toEqual([path, expected]);
      if (expected !== undefined) found += 1;
      paths.push(path);
    }
  }
  expect(found).toBeGreaterThan(1000);
});

test('AmbiguousPaths: compares 20,000 paths within seconds', () => {
  const index = new AmbiguousPaths();
  const start = performance.now();
  const found = Array.from({ length: 10_000 }, (_, count) => [
    index.add(`/items-${count}/{id}`),
    index.add(`/items-${count}`),
  ]);
  expect(performance.now() - start).toBeLessThan(5000);
  expect(new Set(found.flat())).toEqual(new Set([undefined]));
});

test('findClientOnly: a path without fragment and query takes precedence', () => {
  const [copy, change, other, recent, query] = ['/a/{id}#copy', '/a/{id}', '/a/{x}', '/a/{id}#recent', '/b?c=1'].map(
    (path) => ({ path, method: path.endsWith('recent') ? 'get' : 'post' }) as const,
  );
  expect(findClientOnly([copy!, change!, other!, recent!, query!])).toEqual(
    new Map([
      [other, change],
      [copy, change],
      [query, undefined],
    ]),
  );
});
