import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { listFiles } from '@trellis/codegen/documents';
import { readSource, type SourceImport } from './read-source.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The hand-written sources; `template` holds the files of new projects. */
const SOURCES = /^(?:scripts|src(?!\/generated)|packages\/[^/]+\/src)\/(?!.*\btemplate).*\.[jt]sx?$/u;

const MAX_FILES = 25;

/** File → the files that it imports. */
type Graph = ReadonlyMap<string, readonly string[]>;

let all: Graph;
let values: Graph;
beforeAll(async () => {
  const listed = await Promise.all(
    ['scripts', 'src', 'packages'].map(async (folder) =>
      (await listFiles(path.join(root, folder))).map((file) => `${folder}/${file}`),
    ),
  );
  const files = new Set(listed.flat().filter((file) => SOURCES.test(file)));
  const read = await Promise.all(
    [...files].map(async (file) => [file, readSource(await readFile(path.join(root, file), 'utf8')).imports] as const),
  );
  const toGraph = (isWanted: (one: SourceImport) => boolean): Graph =>
    new Map(
      read.map(([file, imports]) => [
        file,
        imports.filter(isWanted).flatMap(({ specifier }) => findFile(file, specifier, files) ?? []),
      ]),
    );
  values = toGraph(({ isType }) => !isType);
  // A module that is loaded late is no part of the interface of a file.
  all = toGraph(({ isLate }) => !isLate);
});

function findFile(file: string, specifier: string, files: ReadonlySet<string>): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  const target = path.posix.join(path.posix.dirname(file), specifier);
  const bare = target.replace(/\.js$/u, '');
  return [target, `${bare}.ts`, `${bare}.tsx`].find((one) => files.has(one));
}

test(`folders: none has more than ${MAX_FILES} source files`, () => {
  const counts = new Map<string, number>();
  for (const file of all.keys()) counts.set(path.dirname(file), (counts.get(path.dirname(file)) ?? 0) + 1);
  expect(counts.size).toBeGreaterThan(50);
  expect([...counts].filter(([, count]) => count > MAX_FILES)).toEqual([]);
});

test('imports of values: no file imports itself through others', () => {
  expect(findCircles(values)).toEqual([]);
});

test('imports of types: a circle has at most two files', () => {
  expect(findCircles(all).filter(({ length }) => length > 2)).toEqual([]);
});

test('findCircles: finds the files that reach each other, and no others', () => {
  const graph = new Map([
    ['a', ['b']],
    ['b', ['c', 'd']],
    ['c', ['a']],
    ['d', ['e']],
    ['e', ['d']],
    ['f', ['a']],
  ]);
  expect(findCircles(graph)).toEqual([
    ['a', 'b', 'c'],
    ['d', 'e'],
  ]);
});

/** Lists the sets of files that reach each other, in alphabetical order. */
function findCircles(graph: Graph): string[][] {
  const reached = new Map([...graph.keys()].map((file) => [file, findReached(file, graph)]));
  const circles = new Map<string, string[]>();
  for (const [file, targets] of reached) {
    if (!targets.has(file)) continue;
    const circle = [...targets].filter((other) => reached.get(other)?.has(file)).sort();
    circles.set(circle.join(' '), circle);
  }
  return [...circles].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, circle]) => circle);
}

/** Returns the files that a file imports, directly or through others. */
function findReached(file: string, graph: Graph): ReadonlySet<string> {
  const reached = new Set<string>();
  const due = [...(graph.get(file) ?? [])];
  for (let next = due.pop(); next !== undefined; next = due.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    due.push(...(graph.get(next) ?? []));
  }
  return reached;
}
