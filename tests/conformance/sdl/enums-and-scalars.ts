import { ask, refuse } from '../ask.js';
import type { Row } from '../row.js';

const section = 'Enums and scalars';

const ENUM = `type Boat implements Node @record @source(glob: "boats.json") { name: String! hull: Hull seas: [Sea!]! }
  "The material." enum Hull { "From trees." WOOD STEEL @deprecated(reason: "Rusts.") }
  enum Sea { NORTH SOUTH }`;

const BOATS = {
  'boats.json':
    '[{"name": "Anna", "hull": "WOOD", "seas": ["NORTH"]}, {"name": "Berta", "hull": "STEEL", "seas": ["NORTH", "SOUTH"]}, {"name": "Carla"}]',
};

const names = (...list: string[]) => ({ allBoat: { nodes: list.map((name) => ({ name })) } });

/** Prices in files are `12.50`, and whole cents in the store. */
const money = {
  parse(value: unknown): number {
    const number = Number(value);
    if (Number.isNaN(number)) throw new Error(`expected a price, such as 12.50; received ${JSON.stringify(value)}.`);
    return Math.round(number * 100);
  },
  serialize: (cents: number): string => (cents / 100).toFixed(2),
};

const SHOP = {
  'dishes.json':
    '[{"name": "Soup", "price": 4.5, "old": ["4.00", 3]}, {"name": "Cake", "price": "12.50"}, {"name": "Water"}]',
};

export const rows: readonly Row[] = [
  {
    section,
    feature: 'an enum',
    note: 'Filters take its values: `{hull: {eq: WOOD}}`. A variable of its type has the value as text.',
    outcome: 'supported',
    contract: ENUM,
    files: BOATS,
    exchanges: [
      ask('{ allBoat(filter: {hull: {eq: WOOD}}) { nodes { name hull } } }', {
        allBoat: { nodes: [{ hull: 'WOOD' }] },
      }),
      ask('query ($hull: Hull) { allBoat(filter: {hull: {ne: $hull}}) { nodes { name } } }', names('Berta', 'Carla'), {
        hull: 'WOOD',
      }),
      ask(
        'query ($hulls: [Hull]) { allBoat(filter: {hull: {in: $hulls}}) { nodes { name } } }',
        names('Berta', 'Carla'),
        {
          hulls: ['STEEL', null],
        },
      ),
      ask('{ allBoat(filter: {seas: {eq: SOUTH}}) { distinct(field: hull) nodes { name } } }', {
        allBoat: { distinct: ['STEEL'], nodes: [{ name: 'Berta' }] },
      }),
      ask('{ allBoat(sort: {fields: [hull]}) { nodes { name } } }', names('Berta', 'Anna', 'Carla')),
      refuse(
        '{ allBoat(filter: {hull: {eq: "WOOD"}}) { totalCount } }',
        'invalid_input',
        'Enum "Hull" cannot represent non-enum value: "WOOD". Did you mean the enum value "WOOD"?',
      ),
      refuse(
        '{ allBoat(filter: {hull: {eq: WOD}}) { totalCount } }',
        'invalid_input',
        'Value "WOD" does not exist in "Hull" enum. Did you mean the enum value "WOOD"?',
      ),
    ],
    published: [
      '"The material."',
      '"From trees."',
      'STEEL @deprecated(reason: "Rusts.")',
      'input HullQueryOperatorInput {\n',
    ],
  },
  {
    section,
    feature: 'a scalar with a codec',
    note: '`scalar Money @stored(as: "Int")`, and a codec in `SiteResolvers` that parses and serializes.',
    outcome: 'supported',
    contract: `type Dish implements Node @record @source(glob: "dishes.json") { name: String! price: Money old: [Money!]! }
      "A price." scalar Money @stored(as: "Int")
      extend type Query { twice(price: Money!): Money! }`,
    files: SHOP,
    resolvers: { Money: money, Query: { twice: (_root: unknown, { price }: { price: number }) => price * 2 } },
    exchanges: [
      ask('{ allDish { nodes { price old } } }', {
        allDish: { nodes: [{ price: '4.50', old: ['4.00', '3.00'] }, { price: '12.50', old: [] }, { price: null }] },
      }),
      ask('{ allDish(filter: {price: {gt: 4.5}}) { nodes { name } } }', { allDish: { nodes: [{ name: 'Cake' }] } }),
      ask(
        'query ($price: Money) { dish(price: {eq: $price}) { name } }',
        { dish: { name: 'Soup' } },
        { price: '4.50' },
      ),
      ask('{ allDish(sort: {fields: [price], order: [DESC]}) { nodes { name } } }', {
        allDish: { nodes: [{ name: 'Water' }, { name: 'Cake' }, { name: 'Soup' }] },
      }),
      ask('{ twice(price: "1.25") }', { twice: '2.50' }),
    ],
    published: ['"A price."\nscalar Money\n', 'input MoneyQueryOperatorInput {'],
  },
  {
    section,
    feature: 'a scalar of queries',
    note: 'It is not stored, and its codec sees the values of requests and resolvers.',
    outcome: 'supported',
    contract: `"Any value." scalar Json @specifiedBy(url: "https://www.rfc-editor.org/rfc/rfc8259")
      extend type Query { echo(value: Json): Json }`,
    resolvers: {
      Json: { parse: (value: unknown) => value, serialize: (value: unknown) => value },
      Query: { echo: (_root: unknown, { value }: { value: unknown }) => value },
    },
    exchanges: [
      ask('{ echo(value: {a: [1, "x"]}) }', { echo: { a: [1, 'x'] } }),
      ask('query ($value: Json) { echo(value: $value) }', { echo: { b: true } }, { value: { b: true } }),
      ask('{ __type(name: "Json") { description specifiedByURL } }', {
        __type: { description: 'Any value.', specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259' },
      }),
    ],
    published: ['scalar Json @specifiedBy(url: "https://www.rfc-editor.org/rfc/rfc8259")'],
  },
  {
    section,
    feature: 'the built-in scalars',
    outcome: 'supported',
    contract: `type Thing implements Node @record @source(glob: "*.yaml") {
      text: String whole: Int number: Float flag: Boolean day: Date @dateformat code: ID
    }`,
    files: { 'a.yaml': 'text: a\nwhole: 3\nnumber: 0.5\nflag: true\nday: "2020-02-29"\ncode: 7\n' },
    exchanges: [
      ask(
        '{ thing(number: {lt: 1}, flag: {eq: true}, code: {eq: "7"}) { text whole number flag day(formatString: "YYYY") code } }',
        {
          thing: { text: 'a', whole: 3, number: 0.5, flag: true, day: '2020', code: '7' },
        },
      ),
    ],
  },
  {
    section,
    feature: 'a scalar in a record without @stored',
    outcome: 'refused',
    contract: 'scalar Blob\ntype Boat implements Node @record { a: Blob }',
    errors: ['2:40 A record cannot store Blob. Name the scalar that stores it: scalar Blob @stored(as: "String").'],
  },
  {
    section,
    feature: '@stored(as:) of an unknown scalar',
    outcome: 'refused',
    contract: 'scalar Blob @stored(as: "Bytes")\ntype Boat implements Node @record { a: Blob }',
    errors: ['1:13 Expected @stored(as:) to be one of Float, Int, String; received "Bytes".'],
  },
  {
    section,
    feature: '@stored on an enum',
    outcome: 'refused',
    contract: 'enum Hull @stored(as: "Int") { WOOD }\nextend type Query { a: Hull }',
    errors: ['1:11 Directive "@stored" may not be used on ENUM.'],
  },
  {
    section,
    feature: 'a repeated value of an enum',
    outcome: 'refused',
    contract: 'enum Hull { WOOD WOOD }\nextend type Query { a: Hull }',
    errors: ['1:18 Enum value "Hull.WOOD" can only be defined once.'],
  },
  {
    section,
    feature: 'an enum without values',
    outcome: 'refused',
    contract: 'enum Hull\nextend type Query { a: Hull }',
    errors: ['1:6 Enum type Hull must define one or more values.'],
  },
  {
    section,
    feature: 'a default that is not a value of the enum',
    outcome: 'refused',
    contract: 'enum Hull { WOOD }\nextend type Query { a(hull: Hull = STEEL): Int }',
    errors: ['2:36 Expected a default of type Hull; received STEEL.'],
  },
  {
    section,
    feature: 'a name that an enum reserves',
    outcome: 'refused',
    contract:
      'enum Hull { WOOD }\ninput HullQueryOperatorInput { a: Hull }\nextend type Query { a(b: HullQueryOperatorInput): Int }',
    errors: ['2:7 The name "HullQueryOperatorInput" is reserved: it is generated for the record types.'],
  },
];
