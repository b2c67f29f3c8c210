import { findSourceLine } from '../../src/codegen/find-source-line.js';

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
