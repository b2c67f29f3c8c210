import type { RecordAccess } from '@trellis/site/graphql/record-access';
import type { GraphQLResolveInfo } from 'graphql';
import { ask, refuse } from '../ask.js';
import type { Row } from '../row.js';

interface Context {
  readonly query: RecordAccess<{ Boat: { readonly name: string; readonly length: number } }>;
}

const FLEET = `type Boat implements Node @record @source(glob: "boats.json") { name: String! length: Int }`;

const BOATS = { 'boats.json': '[{"name": "Anna", "length": 9}, {"name": "Berta", "length": 14}]' };

const section = 'Queries';

export const rows: readonly Row[] = [
  {
    section,
    feature: 'a record type: one record, many, filters, sort, pages, groups',
    outcome: 'supported',
    contract: FLEET,
    files: BOATS,
    exchanges: [
      ask('{ boat(name: {eq: "Anna"}) { length } }', { boat: { length: 9 } }),
      ask('{ allBoat(sort: {fields: [length], order: [DESC]}, limit: 1) { totalCount nodes { name } } }', {
        allBoat: { totalCount: 2, nodes: [{ name: 'Berta' }] },
      }),
      ask('{ allBoat { distinct(field: name) group(field: length) { fieldValue totalCount } } }', {
        allBoat: {
          distinct: ['Anna', 'Berta'],
          group: [
            { fieldValue: '14', totalCount: 1 },
            { fieldValue: '9', totalCount: 1 },
          ],
        },
      }),
    ],
  },
  {
    section,
    feature: 'extend type Query: a value',
    note: 'A hand-written resolver answers it: `SiteResolvers["Query"]`.',
    outcome: 'supported',
    contract: `${FLEET} extend type Query { "Says hello." hello(name: String = "you"): String! }`,
    resolvers: { Query: { hello: (_root: unknown, { name }: { name: string }) => `Hello, ${name}!` } },
    exchanges: [
      ask('{ hello }', { hello: 'Hello, you!' }),
      ask('query ($name: String) { hello(name: $name) }', { hello: 'Hello, Ada!' }, { name: 'Ada' }),
    ],
    published: ['"Says hello."\n'],
  },
  {
    section,
    feature: 'extend type Query: records',
    note: '`context.query.find`, `list` and `page` read the fields that the request selects.',
    outcome: 'supported',
    contract: `${FLEET} extend type Query {
      longest: Boat
      longerThan(length: Int!): [Boat!]!
      short(filter: BoatFilterInput, sort: BoatSortInput): BoatConnection!
      total: Int!
    }`,
    files: BOATS,
    resolvers: {
      Query: {
        longest: async (_root: unknown, _args: unknown, { query }: Context, info: GraphQLResolveInfo) =>
          (await query.list('Boat', { sort: { fields: ['length'], order: ['DESC'] }, limit: 1 }, info))[0],
        longerThan: (_root: unknown, { length }: { length: number }, { query }: Context, info: GraphQLResolveInfo) =>
          query.list('Boat', { filter: { length: { gt: length } } }, info),
        short: (_root: unknown, args: object, { query }: Context, info: GraphQLResolveInfo) =>
          query.page('Boat', args, info),
        total: async (_root: unknown, _args: unknown, { query }: Context, info: GraphQLResolveInfo) =>
          (await query.values('Boat', ['length'], {}, info)).reduce((sum, { length }) => sum + length, 0),
      },
    },
    exchanges: [
      ask('{ longest { name internal { type } } longerThan(length: 9) { length } total }', {
        longest: { name: 'Berta', internal: { type: 'Boat' } },
        longerThan: [{ length: 14 }],
        total: 23,
      }),
      ask('{ short(filter: {name: {ne: "Anna"}}, sort: {fields: [internal___type]}) { totalCount nodes { name } } }', {
        short: { totalCount: 1, nodes: [{ name: 'Berta' }] },
      }),
    ],
  },
  {
    section,
    feature: 'extend type Query: an object of its own',
    outcome: 'supported',
    contract: `${FLEET}
      extend type Query { stats: Stats! }
      type Stats { boats: Int! since: Date @dateformat share(of: Int!): Float @computed }`,
    resolvers: {
      Query: { stats: () => ({ boats: 2, since: '2020-02-29' }) },
      Stats: { share: ({ boats }: { boats: number }, { of }: { of: number }) => boats / of },
    },
    exchanges: [
      ask('{ stats { boats since(formatString: "D MMM YYYY") share(of: 8) } }', {
        stats: { boats: 2, since: '29 Feb 2020', share: 0.25 },
      }),
    ],
  },
  {
    section,
    feature: 'extend type Query: a formatted date',
    outcome: 'supported',
    contract: `${FLEET} extend type Query { opened: Date @dateformat }`,
    resolvers: { Query: { opened: () => Promise.resolve('2020-02-29') } },
    exchanges: [ask('{ opened raw: opened(formatString: "YYYY") }', { opened: '2020-02-29', raw: '2020' })],
  },
  {
    section,
    feature: 'an error of a resolver',
    note: 'An `AppError` is shown to the caller; anything else is logged and shown as `internal`.',
    outcome: 'supported',
    contract: `${FLEET} extend type Query { broken: String wrong: Boat }`,
    files: BOATS,
    resolvers: {
      Query: {
        broken: () => {
          throw new TypeError('A secret.');
        },
        wrong: (_root: unknown, _args: unknown, { query }: Context, info: GraphQLResolveInfo) =>
          query.find('Boat', { filter: { nme: { eq: 'Anna' } } }, info),
      },
    },
    exchanges: [
      refuse(
        '{ broken }',
        'internal',
        'Internal error in this part of the query. Quote the request id when you report it.',
      ),
      refuse('{ wrong { name } }', 'invalid_input', 'Expected a field in a filter; received "nme".'),
    ],
  },
  {
    section,
    feature: 'type Query',
    outcome: 'refused',
    contract: `${FLEET}\ntype Query { a: Int }`,
    errors: ['2:6 The type Query is generated. Add fields with "extend type Query".'],
  },
  {
    section,
    feature: 'a query with the name of a derived one',
    outcome: 'refused',
    contract: `${FLEET}\nextend type Query { allBoat: Int }`,
    errors: ['2:21 Field "Query.allBoat" can only be defined once.'],
  },
  {
    section,
    feature: 'type Mutation',
    outcome: 'refused',
    contract: `${FLEET}\ntype Mutation { a: Int }`,
    errors: ['2:6 The name "Mutation" is reserved: the schema is read-only.'],
  },
  {
    section,
    feature: 'extend type Mutation',
    outcome: 'refused',
    contract: `${FLEET}\nextend type Mutation { a: Int }`,
    errors: [
      '2:13 Cannot extend type "Mutation" because it is not defined.',
      '2:13 The name "Mutation" is reserved: the schema is read-only.',
    ],
  },
  {
    section,
    feature: 'type Subscription',
    outcome: 'refused',
    contract: `${FLEET}\ntype Subscription { a: Int }`,
    errors: ['2:6 The name "Subscription" is reserved: it is generated for the record types.'],
  },
  {
    section,
    feature: 'schema { … }',
    outcome: 'refused',
    contract: `${FLEET}\nschema { query: Query }`,
    errors: ['2:1 A schema definition is not allowed: the types of operations, Query and Subscription, are generated.'],
  },
  {
    section,
    feature: 'a query in a document of the contract',
    outcome: 'refused',
    contract: `${FLEET}\n{ allBoat { totalCount } }`,
    errors: ['2:1 Expected the definition of a type, directive or extension; received a query.'],
  },
  {
    section,
    feature: 'directives of records on a query',
    outcome: 'refused',
    contract: `${FLEET}\nextend type Query { a: Int @computed b: Boat @link c: Int @index }`,
    errors: [
      '2:28 @computed is only allowed on fields of @record types; Query is not one.',
      '2:46 @link is only allowed on fields of @record types; Query is not one.',
      '2:59 @index is only allowed on fields of @record types; Query is not one.',
    ],
  },
  {
    section,
    feature: 'arguments of an object without @computed',
    outcome: 'refused',
    contract: `${FLEET}\nextend type Query { stats: Stats }\ntype Stats { share(of: Int!): Float }`,
    errors: ['3:14 Stats.share has arguments, so it needs @computed and a resolver.'],
  },
];
