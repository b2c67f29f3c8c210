import { printLiteral } from '../../../src/codegen/site/print-literal.js';
import { publishSchema } from '../../../src/codegen/site/publish-schema.js';
import { parseDocuments } from '../../../src/codegen/site/parse-documents.js';

test.each([
  ['text', "it's \\", String.raw`'it\'s \\'`],
  ['numbers, truth and nothing', [1, true, null], '[1, true, null]'],
  ['empty things', { a: [], b: {} }, '{ a: [], b: {} }'],
  ['keys that need quotes', { 'a.b': 1 }, "{ 'a.b': 1 }"],
  [
    'what is long, a line for each item',
    ['x'.repeat(100), 'y'.repeat(100)],
    `[\n  '${'x'.repeat(100)}',\n  '${'y'.repeat(100)}',\n]`,
  ],
])('a literal holds %s', (_reason, value, text) => {
  expect(printLiteral(value)).toBe(text);
});

test('the published schema has no directive of the generator, and dates have their arguments', () => {
  const written = parseDocuments(
    new Map([
      [
        'schema/a.graphql',
        'directive @index on FIELD_DEFINITION\ntype Pan @record { a: Int @index @deprecated(reason: "Old.") b: Date @dateformat }',
      ],
    ]),
  );
  const text = publishSchema(written, 'scalar Derived');
  expect(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => !line.startsWith('"')),
  ).toEqual([
    'scalar Derived',
    '',
    'type Pan {',
    'a: Int @deprecated(reason: "Old.")',
    'b(',
    'difference: String',
    'formatString: String',
    'fromNow: Boolean',
    'locale: String',
    '): Date',
    '}',
    '',
  ]);
});
