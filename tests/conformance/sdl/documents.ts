import { ask, refuse } from '../ask.js';
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
  {
    section,
    feature: 'extensions of every kind of type',
    outcome: 'supported',
    contract: `type Boat implements Node @record @source(glob: "*.json") { name: String! hull: Hull }
      enum Hull { WOOD } extend enum Hull { STEEL }
      interface Named { name: String! } extend interface Named { hull: Hull } extend type Boat implements Named
      type Yes { a: Int } type No { a: Int } union Answer = Yes extend union Answer = No
      input Choice { size: Int = 3 } extend input Choice { hull: Hull = WOOD }
      scalar Json extend scalar Json @specifiedBy(url: "https://example.org")
      extend type Query { pick(by: Choice! = {}): Json answer: Answer! named: Named }`,
    files: { 'a.json': '{"name": "A", "hull": "STEEL"}' },
    resolvers: {
      Query: {
        pick: (_root: unknown, { by }: { by: unknown }) => by,
        answer: () => ({ a: 1 }),
        named: () => ({ name: 'B', hull: 'WOOD', __typename: 'Boat' }),
      },
      Answer: { __resolveType: () => 'No' },
      Json: { parse: (value: unknown) => value, serialize: (value: unknown) => value },
    },
    exchanges: [
      ask('{ boat(hull: {eq: STEEL}) { name } pick answer { __typename } named { name hull ... on Boat { name } } }', {
        boat: { name: 'A' },
        pick: { size: 3, hull: 'WOOD' },
        answer: { __typename: 'No' },
        named: { name: 'B', hull: 'WOOD' },
      }),
    ],
  },
  {
    section,
    feature: 'interfaces that implement interfaces',
    outcome: 'supported',
    contract: `interface Named { name: String! } interface Tagged implements Named { name: String! tags: [String!]! }
      type Boat implements Node & Named & Tagged @record @source(glob: "*.json") { name: String! tags: [String!]! }
      extend type Query { tagged: [Tagged!]! }`,
    resolvers: { Query: { tagged: () => [{ name: 'A', tags: ['x'], 'internal.type': 'Boat' }] } },
    exchanges: [
      ask('{ tagged { __typename tags ... on Named { name } } }', {
        tagged: [{ __typename: 'Boat', tags: ['x'], name: 'A' }],
      }),
    ],
  },
  {
    section,
    feature: 'input objects with defaults and lists',
    outcome: 'supported',
    contract: `input Range { from: Int! = 1 to: Int } input Search { ranges: [Range!] = [{to: 2}] words: [[String!]!] }
      extend type Query { search(by: Search = {}): String! }`,
    resolvers: { Query: { search: (_root: unknown, { by }: { by: object }) => JSON.stringify(by) } },
    exchanges: [
      ask('{ search }', { search: '{"ranges":[{"from":1,"to":2}]}' }),
      ask('{ search(by: {ranges: {to: 5}, words: "x"}) }', {
        search: '{"ranges":[{"from":1,"to":5}],"words":[["x"]]}',
      }),
      refuse(
        'query ($by: Search) { search(by: $by) }',
        'invalid_input',
        'Variable "$by" got invalid value "x" at "by.ranges[0].to"; Expected a whole number from -(2^53 - 1) to 2^53 - 1; received x.',
        { by: { ranges: [{ to: 'x' }] } },
      ),
    ],
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
    'a default of a wrong type',
    'extend type Query { a(b: Int = "x"): Int }',
    '1:32 Expected a default of type Int; received "x".',
  ),
  refused(
    'an extension of an unknown type',
    'extend type Boot { a: Int }',
    '1:13 Cannot extend type "Boot" because it is not defined.',
  ),
  refused(
    'an extension of a wrong kind of type',
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
    '1:22 Unknown type "Nod". Did you mean "Node" or "ID"?',
  ),
  refused(
    'a scalar of GraphQL that is declared again',
    'scalar String',
    '1:8 String is part of GraphQL. Choose another name.',
  ),
  refused(
    'a type with the name of a scalar of GraphQL',
    'type Int { a: Float }',
    '1:6 Int is part of GraphQL. Choose another name.',
  ),
  refused(
    'a directive of GraphQL that is declared again',
    'directive @include(if: Boolean!) on FIELD',
    '1:12 @include is part of GraphQL. Choose another name.',
  ),
  refused(
    'a type with a name that GraphQL reserves',
    'type __Boat { a: Int }',
    '1:6 Name "__Boat" must not begin with "__", which is reserved by GraphQL introspection.',
  ),
  refused(
    'a name that the generated files use',
    'type Promise { a: Int }\nextend type Query { a: Promise }',
    '1:6 The name "Promise" is reserved: the generated files use it.',
  ),
  refused(
    'the name of the stored form of a record type',
    'type Boat implements Node @record { a: Int }\ntype BoatRecord { a: Int }\nextend type Query { a: BoatRecord }',
    '2:6 The name "BoatRecord" is reserved: the generated files use it.',
  ),
  refused(
    'types whose names differ in the first letter',
    'type hull { a: Int }\ntype Hull { a: Int }\nextend type Query { a: hull b: Hull }',
    '2:6 The names "Hull" and "hull" are the same in the generated files.',
  ),
  refused(
    'a type with the name of the arguments of a query',
    'input QuerySearchArgs { a: Int }\nextend type Query { search(by: QuerySearchArgs): Int Search(a: Int): Int }',
    '2:21 The arguments of Query.search and the type QuerySearchArgs have the same name in the generated files: QuerySearchArgs.',
    '2:54 The arguments of Query.Search and Query.search have the same name in the generated files: QuerySearchArgs.',
  ),
  refused(
    'directives whose names differ in the first letter',
    'directive @tag(a: Int) on FIELD\ndirective @Tag(a: Int) on FIELD',
    '2:12 The arguments of @Tag and @tag have the same name in the generated files: TagDirectiveArgs.',
  ),
  refused(
    'a default that contains itself',
    `input A { a: A = {} b: B = {} }
input B { a: A = {a: null, b: null} list: [B!] = [{}] }
extend type Query { x(a: A): Int }`,
    '1:18 The default {} contains itself.',
    '2:50 The default [{}] contains itself.',
  ),
  refused(
    'an object as the default of a scalar',
    'scalar Json\nextend type Query { echo(value: Json = {a: 1}, list: [Json] = [[1]], text: Json = "x"): Json }',
    '2:40 Introspection cannot show lists and objects of a scalar as a default; received {a: 1}.',
    '2:63 Introspection cannot show lists and objects of a scalar as a default; received [[1]].',
  ),
  refused(
    'an interface that no type implements',
    'interface Named { name: String }\nextend type Query { named: Named }',
    '1:11 No type implements Named, so no query could return one.',
  ),
  refused(
    'a union without types',
    'union Thing\nextend type Query { thing: Thing }',
    '1:7 Union type Thing must define one or more member types.',
  ),
  refused(
    'a union with a repeated type',
    'union Thing = File | File\nextend type Query { thing: Thing }',
    '1:22 Union type Thing can only include type File once.',
  ),
  refused(
    'a required argument that is deprecated',
    'extend type Query { a(b: Int! @deprecated): Int }',
    '1:26 Required argument Query.a(b:) cannot be deprecated.',
  ),
  refused(
    'a required member of a @oneOf input',
    'input Choice @oneOf { a: Int! b: Int }\nextend type Query { a(by: Choice): Int }',
    '1:26 OneOf input field Choice.a must be nullable.',
  ),
  refused(
    'an interface that implements itself',
    'interface Named implements Named { name: String }\nextend type Query { named: Named }',
    '1:28 Type Named cannot implement itself because it would create a circular reference.',
  ),
  refused(
    'a value that GraphQL reserves in an enum',
    'enum Hull { true }',
    '1:13 Syntax Error: Name "true" is reserved and cannot be used for an enum value.',
  ),
];
