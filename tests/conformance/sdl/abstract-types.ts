import type { RecordAccess } from '@trellis/site/graphql/record-access';
import type { GraphQLResolveInfo } from 'graphql';
import { ask, refuse } from '../ask.js';
import type { Row } from '../row.js';

interface Context {
  readonly query: RecordAccess<Record<'Boat' | 'Car', { readonly name: string }>>;
}

const section = 'Interfaces and unions';

const KINDS = `
  interface Named { "The name." name: String! }
  type Boat implements Node & Named @record @source(glob: "boats.json") { name: String! length: Int }
  type Car implements Node & Named @record @source(glob: "cars.json") { name: String! doors: Int }
`;

const FILES = { 'boats.json': '{"name": "Anna", "length": 9}', 'cars.json': '{"name": "Bee", "doors": 4}' };

const lists = async (_root: unknown, _args: unknown, { query }: Context, info: GraphQLResolveInfo) =>
  (await Promise.all([query.list('Boat', {}, info), query.list('Car', {}, info)])).flat();

export const rows: readonly Row[] = [
  {
    section,
    feature: 'an interface of record types',
    note: 'The type of a record follows from its kind.',
    outcome: 'supported',
    contract: `${KINDS} extend type Query { named: [Named!]! }`,
    files: FILES,
    resolvers: { Query: { named: lists } },
    exchanges: [
      ask('{ named { __typename name ... on Boat { length } ... on Car { doors } } }', {
        named: [
          { __typename: 'Boat', name: 'Anna', length: 9 },
          { __typename: 'Car', name: 'Bee', doors: 4 },
        ],
      }),
    ],
  },
  {
    section,
    feature: 'an interface that implements Node',
    note: 'It may omit the fields of Node, as record types may.',
    outcome: 'supported',
    contract: `${KINDS.replace('interface Named', 'interface Named implements Node')} extend type Query { named: [Named!]! }`,
    files: FILES,
    resolvers: { Query: { named: lists } },
    exchanges: [
      ask('{ named { name internal { type } parent { ... on File { base } } } }', {
        named: [
          { name: 'Anna', internal: { type: 'Boat' }, parent: { base: 'boats.json' } },
          { name: 'Bee', internal: { type: 'Car' }, parent: { base: 'cars.json' } },
        ],
      }),
    ],
  },
  {
    section,
    feature: 'a union of record types',
    outcome: 'supported',
    contract: `${KINDS} union Thing = Boat | Car extend type Query { things: [Thing!]! }`,
    files: FILES,
    resolvers: { Query: { things: lists } },
    exchanges: [
      ask('{ things { ... on Boat { length } ... on Car { doors } ... on Node { internal { type } } } }', {
        things: [
          { length: 9, internal: { type: 'Boat' } },
          { doors: 4, internal: { type: 'Car' } },
        ],
      }),
    ],
  },
  {
    section,
    feature: 'a record that a resolver makes',
    note: 'The kind may also be the column or the object of `internal.type`.',
    outcome: 'supported',
    contract: `${KINDS} extend type Query { made: [Named!]! }`,
    resolvers: {
      Query: {
        made: () => [
          { name: 'A', 'internal.type': 'Boat' },
          { name: 'B', internal: { type: 'Car' } },
        ],
      },
    },
    exchanges: [ask('{ made { __typename name } }', { made: [{ __typename: 'Boat' }, { __typename: 'Car' }] })],
  },
  {
    section,
    feature: 'a union of other objects',
    note: 'A hand-written `__resolveType` names the type.',
    outcome: 'supported',
    contract: `${KINDS} union Answer = Yes | No type Yes { score: Int! } type No { reason: String! }
      extend type Query { answers: [Answer!]! }`,
    resolvers: {
      Query: { answers: () => [{ score: 1 }, { reason: 'late' }] },
      Answer: { __resolveType: (answer: object) => ('score' in answer ? 'Yes' : 'No') },
    },
    exchanges: [
      ask('{ answers { __typename ... on Yes { score } ... on No { reason } } }', {
        answers: [
          { __typename: 'Yes', score: 1 },
          { __typename: 'No', reason: 'late' },
        ],
      }),
    ],
  },
  {
    section,
    feature: 'a result of an unknown type',
    note: 'It is a defect of the server, which the log describes.',
    outcome: 'supported',
    contract: `${KINDS} extend type Query { named: Named }`,
    resolvers: { Query: { named: () => ({ name: 'A' }) } },
    exchanges: [
      refuse(
        '{ named { name } }',
        'internal',
        'Internal error in this part of the query. Quote the request id when you report it.',
      ),
    ],
  },
  {
    section,
    feature: 'an interface or a union as the value of a record',
    outcome: 'refused',
    contract: 'union Thing = Internal | PageInfo\ntype Boat implements Node @record { a: Thing }',
    errors: [
      '2:40 Expected a type that a record can store: Boolean, Date, Float, ID, Int, String, an enum or an object; received Thing.',
    ],
  },
  {
    section,
    feature: 'a missing field of an interface',
    outcome: 'refused',
    contract: 'interface Named { name: String! }\ntype Boat implements Node & Named @record { title: String! }',
    errors: ['2:6 Interface field Named.name expected but Boat does not provide it.'],
  },
  {
    section,
    feature: 'a union of a scalar',
    outcome: 'refused',
    contract: 'union Thing = String\nextend type Query { thing: Thing }',
    errors: ['1:15 Union type Thing can only include Object types, it cannot include String.'],
  },
  {
    section,
    feature: 'directives of records in an interface',
    outcome: 'refused',
    contract:
      'interface Named { name: String! @index }\nextend type Query { named: Named }\nextend type File implements Named',
    errors: ['1:33 @index is only allowed on fields of @record types; Named is not one.'],
  },
];
