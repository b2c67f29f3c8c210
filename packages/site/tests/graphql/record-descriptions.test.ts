import type { RecordTable } from '@trellis/core/record-types';
import { buildSchema } from 'graphql';
import { describeRecordTypes } from '../../src/graphql/record-descriptions.js';

const schema = buildSchema(`
  interface Node { id: ID! internal: Internal! }
  type Internal { type: String! description: String }
  "Something to eat."
  type Cake implements Node {
    id: ID!
    internal: Internal!
    "The name on the menu."
    name: String!
    kinds: [Size!]!
    steps: [Step!]!
    guests: [Guest!]
    summary(words: Int = 20): String
    cut(weight: Int!): String
    slice(size: Size = BIG, cream: Cream, old: Int @deprecated): Slice
  }
  type Guest implements Node { id: ID! internal: Internal! }
  type Step { text: String tools: [Tool!] after: Step }
  type Tool { name: String bought: Float }
  type Slice { weight: Int! }
  enum Size { "A lot." BIG SMALL }
  input Cream { fat: Float! more: Cream }
  type Query { cake: Cake }
`);

const column = (name: string, rest: object) => ({
  ...{ kind: 'scalar', name, path: name, list: false, nullable: false, column: name },
  ...{ dateArguments: false, indexed: false, ...rest },
});

const tables = {
  Cake: {
    ...{ kind: 'Cake', single: 'cake', all: 'allCake' },
    fields: [
      column('name', { type: 'String', searchWeight: 1 }),
      column('kinds', { type: 'String', list: true, values: ['BIG', 'SMALL'] }),
    ],
  },
  Guest: { kind: 'Guest', single: 'guest', all: 'allGuest', fields: [] },
} as unknown as Readonly<Record<string, RecordTable>>;

const [cake, guest] = describeRecordTypes(schema, tables);

test('record types have their names, their description and whether they can be searched', () => {
  const { kind, description, single, all, searchable } = cake!;
  expect([kind, description, single, all, searchable]).toEqual(['Cake', 'Something to eat.', 'cake', 'allCake', true]);
  expect([guest?.kind, guest?.searchable]).toEqual(['Guest', undefined]);
});

test('fields have the selection of their whole value and their column, without those that need arguments', () => {
  expect(cake!.fields).toEqual([
    { name: 'id', description: '', selection: 'id' },
    { name: 'internal', description: '', selection: 'internal { type description }' },
    { name: 'name', description: 'The name on the menu.', selection: 'name', column: { type: 'String' } },
    {
      ...{ name: 'kinds', description: '', selection: 'kinds' },
      column: { type: 'String', list: true, values: ['BIG', 'SMALL'] },
    },
    { name: 'steps', description: '', selection: 'steps { text tools { name bought } }' },
    { name: 'guests', description: '', selection: 'guests { id internal { type description } }' },
    { name: 'summary', description: '', selection: 'summary' },
  ]);
});

test('derived objects have their arguments, including enums, inputs and defaults, without deprecated ones', () => {
  expect(cake!.made).toEqual([
    {
      ...{ name: 'slice', description: '' },
      arguments: [
        {
          ...{ name: 'size', description: '', type: 'Size', default: 'BIG' },
          values: [
            { name: 'BIG', description: 'A lot.' },
            { name: 'SMALL', description: '' },
          ],
        },
        {
          ...{ name: 'cream', description: '', type: 'Cream' },
          arguments: [{ name: 'fat', description: '', type: 'Float', required: true }],
        },
      ],
      results: [{ name: 'weight', description: '' }],
    },
  ]);
});
