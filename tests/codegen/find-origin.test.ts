import { findOrigin } from '../../src/codegen/find-origin.js';

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
  [2, '  nam: string;', 2, 'it declares a member of the type around it'],
  [0, "export type Kind = 'File';", 20, 'it names what the line found there lacks'],
  [3, '  other: Nod;', 9, 'it names a type'],
  [4, undefined, 1, 'the line around it does'],
])('finds the contract line behind line %i, found as %j, at line %i: %s', (at, found, line) => {
  expect(findOrigin(lines, at, found, origins)).toEqual(place(line));
});

test('finds none where only a line beside it has a name', () => {
  expect(findOrigin(["export const apple: Recipe = 'a';", 'export const other = 1;'], 1, '', origins)).toBeUndefined();
});

test('finds none above the first name', () => {
  expect(findOrigin(['// Do not edit.', ...lines], 0, '', origins)).toBeUndefined();
});
