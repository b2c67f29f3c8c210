import { printLiteral } from '../../../src/codegen/site/print-literal.js';
import { publishSchema } from '../../../src/codegen/site/publish-schema.js';
import { parseDocuments } from '../../../src/codegen/site/parse-documents.js';

test.each([
  ['text', "it's \\", String.raw`'it\'s \\'`],
  ['a number, a boolean and null', [1, true, null], '[1, true, null]'],
  ['an empty list and an empty object', { a: [], b: {} }, '{ a: [], b: {} }'],
  ['keys that need quotes', { 'a.b': 1 }, "{ 'a.b': 1 }"],
  [
    'a long list with one line per item',
    ['x'.repeat(100), 'y'.repeat(100)],
    `[\n  '${'x'.repeat(100)}',\n  '${'y'.repeat(100)}',\n]`,
  ],
])('printLiteral: prints %s', (_reason, value, text) => {
  expect(printLiteral(value)).toBe(text);
});

test('publishSchema: removes the directives of the generator and adds the arguments of dates', () => {
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
