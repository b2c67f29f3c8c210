import { buildSchema, parse, specifiedRules, validate } from 'graphql';
import { createDocumentCache } from '../../src/graphql/request.js';

const schema = buildSchema(`
  type Item { name(size: Int!): String, item: Item }
  type Query { item(names: [String], size: Int): Item }
  type Subscription { one: Int, other: Int }
`);
const prepare = createDocumentCache({ schema, introspection: true });

test.each([
  ['nothing wrong', '{ item { item { name(size: 1) } } }'],
  ['an unknown field', '{ item { unknown } }'],
  ['a missing selection', '{ item }'],
  ['an unknown argument', '{ item(other: 1) { item { name(size: 1) } } }'],
  ['a missing argument', '{ item { name } }'],
  ['a repeated argument', '{ item(size: 1, size: 2) { name(size: 1) } }'],
  ['a value of a wrong type', '{ item(names: [1]) { name(size: 1) } }'],
  ['fields that conflict', '{ item { name(size: 1) name(size: 2) } }'],
  ['an unknown directive', '{ item @unknown { name(size: 1) } }'],
  ['a repeated directive', '{ item @skip(if: true) @skip(if: true) { name(size: 1) } }'],
  ['a directive without its argument', '{ item @skip { name(size: 1) } }'],
  ['an undefined variable', '{ item { name(size: $size) } }'],
  ['an unused variable', 'query ($size: Int) { item { name(size: 1) } }'],
  ['a repeated variable', 'query ($size: Int!, $size: Int!) { item { name(size: $size) } }'],
  ['a variable of a wrong type', 'query ($size: String!) { item { name(size: $size) } }'],
  ['a variable of an unknown type', 'query ($size: Unknown) { item { name(size: $size) } }'],
  ['a variable of an output type', 'query ($size: Item) { item { name(size: $size) } }'],
  ['an unknown fragment', '{ item { ...F } }'],
  ['an inline fragment of an unknown type', '{ item { ... on Unknown { name(size: 1) } } }'],
  ['an inline fragment of another type', '{ item { ... on Query { item { name(size: 1) } } } }'],
  ['an unused fragment', '{ item { name(size: 1) } } fragment F on Item { item { name(size: 1) } }'],
  ['two operations without names', '{ item { name(size: 1) } } { item { name(size: 1) } }'],
  ['two operations of one name', 'query A { item { name(size: 1) } } query A { item { name(size: 1) } }'],
  ['a subscription of two fields', 'subscription { one other }'],
  ['a definition of a type', 'type Other { a: Int }'],
])('a document with %s has the errors of all rules', (_reason, text) => {
  const messages = validate(schema, parse(text), specifiedRules).map(({ message }) => message);
  expect(prepare(text).errors.map(({ message }) => message)).toEqual(messages);
});

test('a hint follows the message of its error', () => {
  const withHint = createDocumentCache({
    schema,
    introspection: true,
    hint: ({ message }) => (message.includes('"unknown"') ? 'Write "name".' : undefined),
  });
  const { errors } = withHint('{ item { unknown price } }');
  expect(errors.map(({ message, locations }) => [message, locations])).toEqual([
    ['Cannot query field "unknown" on type "Item". Write "name".', [{ line: 1, column: 10 }]],
    ['Cannot query field "price" on type "Item".', [{ line: 1, column: 18 }]],
  ]);
});
