import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { check, findSourceLine, formatDifferences } from '../../src/generate/check.js';
import { generate } from '../../src/generate/generate.js';
import { createProject, type TemporaryProject } from './temporary-project.js';

let temporary: TemporaryProject;
beforeEach(async () => {
  temporary = await createProject();
  await generate(temporary.project);
});
afterEach(() => temporary.close());

const inFolder = (file: string) => path.join(temporary.project.root, 'src/generated', file);
const report = async () => formatDifferences(temporary.project.root, await check(temporary.project));

test('check: finds no differences after a run, and runs no generator', async () => {
  temporary.loaded.length = 0;
  expect(await check(temporary.project)).toEqual([]);
  expect(temporary.loaded).toEqual([]);
});

test('check: reports the first edited line and the contract line that it comes from', async () => {
  await writeFile(
    inFolder('fruits/words.ts'),
    "// Do not edit.\nexport const apple = 'apple';\nexport const plum = 1;\n",
  );
  expect(await report()).toBe(
    [
      'src/generated/fruits/words.ts:3 differs.',
      "  expected  export const pear = 'pear';",
      '  found     export const plum = 1;',
      '  from words/fruits.txt:2:1',
      '  pear',
      '  ^',
      'Run "npm run generate" and commit the changes.',
    ].join('\n'),
  );
});

test('check: finds no differences in files that git has checked out with the line ends of Windows', async () => {
  const file = inFolder('fruits/words.ts');
  const windows = (await readFile(file, 'utf8')).replaceAll('\n', '\r\n');
  await writeFile(file, windows);
  expect(await check(temporary.project)).toEqual([]);
  expect(await generate(temporary.project)).toMatchObject({ written: [] });
  expect(await readFile(file, 'utf8')).toBe(windows);
});

test('check: reports no contract line for a truncated file', async () => {
  await writeFile(inFolder('trees/words.ts'), "// Do not edit.\nexport const oak = 'oak';");
  expect(await check(temporary.project)).toEqual([
    {
      file: 'src/generated/trees/words.ts',
      kind: 'edited',
      line: 3,
      expected: '',
      found: undefined,
      origin: undefined,
    },
  ]);
});

test('check: runs only the target of an edited file', async () => {
  temporary.loaded.length = 0;
  await writeFile(inFolder('fruits/count.ts'), '');
  expect(await report()).toContain('src/generated/fruits/count.ts:1 differs.');
  expect(temporary.loaded).toEqual(['fruits']);
});

test('check: reports a deleted file', async () => {
  await rm(inFolder('trees/count.ts'));
  expect(await report()).toContain('src/generated/trees/count.ts is missing.');
});

test('check: reports a file that no contract generates', async () => {
  await temporary.write('src/generated/old.ts', '');
  expect(await report()).toContain('src/generated/old.ts is stale: no contract generates it.');
});

test('check: reports a changed contract even if the cache contains the files', async () => {
  await temporary.write('words/trees.txt', 'oak\nelm\n');
  expect(await report()).toContain('from words/trees.txt:2:1');
});

test('check: changes no file', async () => {
  await temporary.write('words/trees.txt', 'elm\n');
  await temporary.write('src/generated/old.ts', '');
  const before = await temporary.generated();
  await check(temporary.project);
  expect(await temporary.generated()).toEqual(before);
});

const place = (line: number) => ({ file: 'schema/file.graphql', line, column: 1 });
const origins = new Map([
  ['File', place(1)],
  ['File.name', place(2)],
  ['Node', place(9)],
  ['Recipe', place(20)],
  ['Recipe.name', place(21)],
]);
const lines = [
  "export type Kind = 'File' | 'Recipe';",
  'export interface File extends Node {',
  '  name: string;',
  '  other: Node;',
  '  unknown: 1;',
  '}',
];

test.each<[number, string | undefined, number, string]>([
  [2, '  nam: string;', 2, 'the line declares a member of the enclosing type'],
  [0, "export type Kind = 'File';", 20, 'the line has a name that the line on disk lacks'],
  [3, '  other: Nod;', 9, 'the line names a type'],
  [4, undefined, 1, 'the enclosing line names a type'],
])('findSourceLine: line %i, on disk %j, comes from contract line %i: %s', (at, found, line) => {
  expect(findSourceLine(lines, at, found, origins)).toEqual(place(line));
});

test('findSourceLine: ignores names on sibling lines', () => {
  expect(
    findSourceLine(["export const apple: Recipe = 'a';", 'export const other = 1;'], 1, '', origins),
  ).toBeUndefined();
});

test('findSourceLine: returns undefined for a line without names', () => {
  expect(findSourceLine(['// Do not edit.', ...lines], 0, '', origins)).toBeUndefined();
});
