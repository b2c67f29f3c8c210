import { AppError } from '@trellis/core/errors';
import type { RecordAccess } from '@trellis/site/graphql/record-access';
import type { GraphQLResolveInfo } from 'graphql';
import { ask, refuse } from '../ask.js';
import type { Row } from '../row.js';

const section = 'Computed fields';

const BOATS = {
  'boats.json':
    '[{"name": "Anna", "built": 1990, "weight": 0.1}, {"name": "Berta", "built": 2010, "weight": 0.30000000000000004}, {"name": "Carla"}]',
};

interface Boat {
  readonly name: string;
  readonly built: number | null;
  readonly weight: number | null;
}

interface Context {
  readonly query: RecordAccess<{ Boat: Boat }>;
}

const age = ({ built }: Boat): number | null => (built === null ? null : 2017 - built);

export const rows: readonly Row[] = [
  {
    section,
    feature: '@computed: filter, sort, group and distinct',
    note: 'They use what the resolver returns with default arguments. The values are kept until a record changes.',
    outcome: 'supported',
    contract: `type Boat implements Node @record @source(glob: "boats.json") {
      name: String! built: Int
      age(plus: Int = 0): Int @computed(needs: ["built"])
    }`,
    files: BOATS,
    resolvers: { Boat: { age: (boat: Boat, { plus }: { plus: number }) => (age(boat) ?? 0) + plus } },
    exchanges: [
      ask('{ allBoat(filter: {age: {gt: 10}}) { totalCount nodes { name age older: age(plus: 1) } } }', {
        allBoat: { totalCount: 1, nodes: [{ name: 'Anna', age: 27, older: 28 }] },
      }),
      ask(
        '{ allBoat(sort: {fields: [age]}) { distinct(field: age) nodes { name } group(field: age) { fieldValue } } }',
        {
          allBoat: {
            distinct: ['0', '27', '7'],
            nodes: [{ name: 'Carla' }, { name: 'Berta' }, { name: 'Anna' }],
            group: [{ fieldValue: '0' }, { fieldValue: '27' }, { fieldValue: '7' }],
          },
        },
      ),
      ask('{ boat(age: {eq: 7}) { name } }', { boat: { name: 'Berta' } }),
    ],
  },
  {
    section,
    feature: '@computed on a built-in type',
    outcome: 'supported',
    contract: 'extend type File { isBoat: Boolean! @computed(needs: ["extension"]) }',
    files: { 'anna.boat': 'x', 'notes.txt': 'x' },
    resolvers: { File: { isBoat: ({ extension }: { extension: string }) => extension === 'boat' } },
    exchanges: [
      ask(
        '{ allFile(filter: {isBoat: {eq: true}}) { totalCount nodes { base } group(field: isBoat) { fieldValue } } }',
        {
          allFile: { totalCount: 1, nodes: [{ base: 'anna.boat' }], group: [{ fieldValue: 'true' }] },
        },
      ),
    ],
  },
  {
    section,
    feature: 'an asynchronous resolver',
    outcome: 'supported',
    contract: `type Boat implements Node @record @source(glob: "boats.json") {
      name: String! built: Int age: Int @computed(needs: ["built"])
    }`,
    files: BOATS,
    resolvers: { Boat: { age: async (boat: Boat) => Promise.resolve(age(boat)) } },
    exchanges: [
      ask(
        '{ allBoat(filter: {age: {gt: 10}}) { totalCount } missing: allBoat(filter: {age: {eq: null}}) { totalCount } }',
        {
          allBoat: { totalCount: 1 },
          missing: { totalCount: 1 },
        },
      ),
      ask('{ allBoat(sort: {fields: [age], order: [DESC]}, limit: 2) { nodes { name age } } }', {
        allBoat: {
          nodes: [
            { name: 'Carla', age: null },
            { name: 'Anna', age: 27 },
          ],
        },
      }),
    ],
  },
  {
    section,
    feature: 'a resolver that reads other records',
    outcome: 'supported',
    contract: `type Boat implements Node @record @source(glob: "boats.json") {
      name: String! built: Int older: Int! @computed(needs: ["built"]) loud: String! @computed(needs: ["name"])
      rivals: Int! @computed(needs: ["name"])
    }`,
    files: BOATS,
    resolvers: {
      Boat: {
        older: async ({ built }: Boat, _args: unknown, { query }: Context, info: GraphQLResolveInfo) =>
          (await query.values('Boat', ['name'], { filter: { built: { lt: built ?? 0 } } }, info)).length,
        loud: ({ name }: Boat) => `${name}!`,
        rivals: async ({ name }: Boat, _args: unknown, { query }: Context, info: GraphQLResolveInfo) =>
          (await query.values('Boat', ['name'], { filter: { loud: { ne: `${name}!` } } }, info)).length,
      },
    },
    exchanges: [
      ask('{ allBoat(filter: {older: {eq: 1}}) { nodes { name older } } }', {
        allBoat: { nodes: [{ name: 'Berta', older: 1 }] },
      }),
      ask('{ allBoat(filter: {rivals: {eq: 2}}, sort: {fields: [older, name]}) { nodes { name rivals } } }', {
        allBoat: {
          nodes: [
            { name: 'Anna', rivals: 2 },
            { name: 'Carla', rivals: 2 },
            { name: 'Berta', rivals: 2 },
          ],
        },
      }),
    ],
  },
  {
    section,
    feature: 'a computed object',
    note: 'Members that are functions are called, as in a response.',
    outcome: 'supported',
    contract: `type Boat implements Node @record @source(glob: "boats.json") {
      name: String! built: Int report: Report @computed(needs: ["name", "built"])
    }
    type Report { title: String! age: Int words: [String!]! }`,
    files: BOATS,
    resolvers: {
      Boat: {
        report: (boat: Boat) => ({
          title: () => `The ${boat.name}`,
          age: Promise.resolve(age(boat)),
          words: ['a', boat.name],
        }),
      },
    },
    exchanges: [
      ask('{ allBoat(filter: {report: {age: {lt: 10}, words: {eq: "Berta"}}}) { nodes { report { title age } } } }', {
        allBoat: { nodes: [{ report: { title: 'The Berta', age: 7 } }] },
      }),
      ask('{ allBoat { distinct(field: report___title) } }', {
        allBoat: { distinct: ['The Anna', 'The Berta', 'The Carla'] },
      }),
    ],
  },
  {
    section,
    feature: 'a computed float',
    outcome: 'supported',
    contract: `type Boat implements Node @record @source(glob: "boats.json") {
      name: String! weight: Float tons: Float @computed(needs: ["weight"])
    }`,
    files: BOATS,
    resolvers: { Boat: { tons: ({ weight }: Boat) => weight } },
    exchanges: [
      ask('{ allBoat(filter: {tons: {eq: 0.30000000000000004}}) { nodes { tons } } }', {
        allBoat: { nodes: [{ tons: 0.30000000000000004 }] },
      }),
    ],
  },
  {
    section,
    feature: 'a computed enum',
    outcome: 'supported',
    contract: `type Boat implements Node @record @source(glob: "boats.json") {
      name: String! built: Int era: Era! @computed(needs: ["built"])
    }
    enum Era { OLD NEW }`,
    files: BOATS,
    resolvers: { Boat: { era: (boat: Boat) => ((age(boat) ?? 0) > 10 ? 'OLD' : 'NEW') } },
    exchanges: [
      ask('{ allBoat(filter: {era: {eq: OLD}}) { nodes { name era } } }', {
        allBoat: { nodes: [{ name: 'Anna', era: 'OLD' }] },
      }),
    ],
  },
  {
    section,
    feature: 'a field that requires arguments',
    note: 'It is selected only: filters, sorts and groups do not offer it.',
    outcome: 'supported',
    contract: `type Boat implements Node @record @source(glob: "boats.json") {
      name: String! first(letters: Int!): String! @computed(needs: ["name"])
    }`,
    files: BOATS,
    resolvers: { Boat: { first: ({ name }: Boat, { letters }: { letters: number }) => name.slice(0, letters) } },
    exchanges: [
      ask('{ boat { first(letters: 2) } }', { boat: { first: 'An' } }),
      refuse(
        '{ allBoat(filter: {first: {eq: "An"}}) { totalCount } }',
        'invalid_input',
        'Field "first" is not defined by type "BoatFilterInput".',
      ),
      refuse(
        '{ allBoat { distinct(field: first) } }',
        'invalid_input',
        'Value "first" does not exist in "BoatFieldsEnum" enum.',
      ),
    ],
  },
  {
    section,
    feature: 'an error of a resolver in a filter',
    note: 'An `AppError` counts as a missing value; anything else is a defect of the server.',
    outcome: 'supported',
    contract: `type Boat implements Node @record @source(glob: "boats.json") {
      name: String! checked: Int @computed(needs: ["name"]) broken: Int @computed
    }`,
    files: BOATS,
    resolvers: {
      Boat: {
        checked: ({ name }: Boat) => {
          if (name === 'Anna') throw new AppError('unprocessable', 'Anna is lost.');
          return 1;
        },
        broken: () => {
          throw new TypeError('A secret.');
        },
      },
    },
    exchanges: [
      ask('{ allBoat(filter: {checked: {eq: null}}) { nodes { name } } }', { allBoat: { nodes: [{ name: 'Anna' }] } }),
      refuse(
        '{ allBoat(filter: {broken: {eq: 1}}) { totalCount } }',
        'internal',
        'Internal error in this part of the query. Quote the request id when you report it.',
      ),
    ],
  },
  {
    section,
    feature: '@computed that needs a field that is not stored',
    outcome: 'refused',
    contract: 'type Boat implements Node @record { age: Int @computed(needs: ["built"]) }',
    errors: ['1:46 Expected "needs" to name stored fields of Boat; received "built".'],
  },
  {
    section,
    feature: '@computed inside an object of a record',
    outcome: 'refused',
    contract: 'type Boat implements Node @record { hull: Hull }\ntype Hull { age: Int @computed }',
    errors: ['2:22 @computed is only allowed on fields of @record types; Hull is not one.'],
  },
  {
    section,
    feature: '@computed(needs:) of an object that is not a record',
    outcome: 'refused',
    contract: 'extend type Query { stats: Stats }\ntype Stats { a: Int @computed(needs: ["b"]) }',
    errors: ['2:31 Only fields of @record types need columns; the resolver receives the whole Stats.'],
  },
  {
    section,
    feature: 'arguments without @computed',
    outcome: 'refused',
    contract: 'type Boat implements Node @record { age(at: Int): Int }',
    errors: ['1:37 Only @computed fields can declare arguments; @dateformat adds those of dates.'],
  },
  {
    section,
    feature: '@computed with another directive for the value',
    outcome: 'refused',
    contract: 'type Boat implements Node @record { a: Int @alias(of: "b") @computed b: Int }',
    errors: [
      '1:60 Expected at most one of @alias, @child, @computed, @link, @markdown, @slug; received @alias and @computed.',
    ],
  },
  {
    section,
    feature: 'a computed record',
    outcome: 'refused',
    contract: 'type Boat implements Node @record { twin: Boat @computed }',
    errors: ['1:43 Expected @link or @child on a field of the record type Boat.'],
  },
];
