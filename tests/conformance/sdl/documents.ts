import { ask } from '../ask.js';
import type { Row } from '../row.js';

const section = 'Documents';

const refused = (feature: string, contract: string, ...errors: string[]): Row => ({
  section,
  feature,
  outcome: 'refused',
  contract,
  errors,
});

export const rows: readonly Row[] = [
  {
    section,
    feature: 'a document with comments only',
    outcome: 'supported',
    contract: '# A draft.\n',
    exchanges: [ask('{ __typename }', { __typename: 'Query' })],
  },
  {
    section,
    feature: 'CRLF and a byte order mark',
    outcome: 'supported',
    contract: '\uFEFFtype Boat implements Node @record {\r\n  a: Int\r\n}\r\n',
    exchanges: [ask('{ allBoat { totalCount } }', { allBoat: { totalCount: 0 } })],
  },
  refused('broken syntax', 'type Boat {\n  name String\n}', '2:8 Syntax Error: Expected ":", found Name "String".'),
  refused('an unfinished document', 'type Boat {', '1:12 Syntax Error: Expected Name, found <EOF>.'),
  refused('an unknown type', 'type Boat {\n  name: Strng\n}', '2:9 Unknown type "Strng". Did you mean "String"?'),
  refused(
    'a type that is declared twice',
    'type Boat { a: Int }\ntype Boat { b: Int }',
    '2:6 There can be only one type named "Boat".',
  ),
  refused(
    'a field that is declared twice',
    'type Boat {\n  a: Int\n  a: Int\n}',
    '3:3 Field "Boat.a" can only be defined once.',
  ),
  refused(
    'an argument that is declared twice',
    'extend type Query { boat(a: Int, a: Int): Int }',
    '1:34 Argument "Query.boat(a:)" can only be defined once.',
  ),
  refused(
    'a type without fields',
    'type Boat\nextend type Query { a: Boat }',
    '1:6 Type Boat must define one or more fields.',
  ),
  refused(
    'an input as the type of a field',
    'input Oil { a: Int }\nextend type Query { oil: Oil }',
    '2:26 The type of Query.oil must be Output Type but got: Oil.',
  ),
  refused(
    'an object as the type of an argument',
    'type Oil { a: Int }\nextend type Query { a(oil: Oil): Int }',
    '2:28 The type of Query.a(oil:) must be Input Type but got: Oil.',
  ),
  refused(
    'an input that requires itself',
    'input Oil { oil: Oil! }\nextend type Query { a(oil: Oil): Int }',
    '1:13 Cannot reference Input Object "Oil" within itself through a series of non-null fields: "oil".',
  ),
  refused(
    'a name that GraphQL reserves',
    'extend type Query { __a: Int }',
    '1:21 Name "__a" must not begin with "__", which is reserved by GraphQL introspection.',
  ),
  refused(
    'a default of another type',
    'extend type Query { a(b: Int = "x"): Int }',
    '1:32 Expected a default of type Int; received "x".',
  ),
  refused(
    'an extension of an unknown type',
    'extend type Boot { a: Int }',
    '1:13 Cannot extend type "Boot" because it is not defined.',
  ),
  refused(
    'an extension of another kind of type',
    'extend input File { a: Int }',
    '1:14 Cannot extend non-input object type "File".',
  ),
  refused(
    'an interface that is implemented twice',
    'type Boat implements Node & Node @record { a: Int }',
    '1:29 Type Boat can only implement Node once.',
  ),
  refused(
    'an unknown interface',
    'type Boat implements Nod @record { a: Int }',
    '1:22 Unknown type "Nod". Did you mean "Node"?',
  ),
];
