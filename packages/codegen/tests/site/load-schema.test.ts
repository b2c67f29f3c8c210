import type { RecordField } from '@trellis/core/record-types';
import type { GraphQLObjectType } from 'graphql';
import { deriveFullSchema, readContract } from '../../src/site/load-schema.js';
import { listColumns } from '../../src/site/print-records.js';
import { documentsWith } from './documents.js';

const TYPES = 'type Lid { b: Int @index c: Boolean }\nenum Heat { LOW HIGH }';

function readField(text: string): RecordField | undefined {
  const { tables } = readContract(documentsWith(`type Pan implements Node @record { ${text} }\n${TYPES}`));
  return tables[0]?.fields[0];
}

const scalar = { kind: 'scalar', name: 'a', path: 'a', column: 'a', list: false, nullable: true } as const;
const plain = { dateArguments: false, indexed: false };
const base = { name: 'a', path: 'a', list: false, nullable: true };
const heat = { declared: 'Heat', values: ['LOW', 'HIGH'] };
const lid = [
  { ...scalar, ...plain, name: 'b', path: 'a.b', column: 'a.b', type: 'Int', indexed: true },
  { ...scalar, ...plain, name: 'c', path: 'a.c', column: 'a.c', type: 'Boolean' },
];

test.each([
  ['a: Int', { ...scalar, ...plain, type: 'Int' }],
  ['a: [Int!]!', { ...scalar, ...plain, type: 'Int', list: true, nullable: false }],
  ['a: Heat', { ...scalar, ...plain, ...heat, type: 'String' }],
  ['a: [Heat!]', { ...scalar, ...plain, ...heat, type: 'String', list: true }],
  ['a: String! @index', { ...scalar, ...plain, type: 'String', nullable: false, indexed: true }],
  ['a: Date @dateformat', { ...scalar, ...plain, type: 'Date', dateArguments: true }],
  ['a: ID @alias(of: "id")', { ...scalar, ...plain, type: 'ID', column: 'id' }],
  ['a: Lid', { kind: 'object', ...base, type: 'Lid', fields: lid }],
  ['a: [Lid!]', { kind: 'object', ...base, type: 'Lid', list: true, fields: lid }],
  ['a: Pan @child', { kind: 'relation', ...base, type: 'Pan', relation: { by: 'child' } }],
  [
    'a: Pan @link(from: "b", to: "id") b: String',
    { kind: 'relation', ...base, type: 'Pan', relation: { by: 'link', from: 'b', to: 'id' } },
  ],
  ['a: Pan @link', { kind: 'relation', ...base, type: 'Pan', relation: { by: 'link', from: 'a', to: 'id' } }],
  [
    'a: [Pan!]! @link(to: "b") b: String',
    {
      kind: 'relation',
      ...base,
      list: true,
      nullable: false,
      type: 'Pan',
      relation: { by: 'link', from: 'a', to: 'b' },
    },
  ],
  [
    'a: [Pan] @link(from: "b") b: [ID!]',
    { kind: 'relation', ...base, list: true, type: 'Pan', relation: { by: 'link', from: 'b', to: 'id' } },
  ],
  [
    'a(c: Int): Heat @computed(needs: ["internal.type"])',
    {
      ...{ kind: 'computed', ...base, ...heat, type: 'String', fields: [] },
      ...{ needs: ['internal.type'], hasArguments: true, dateArguments: false },
    },
  ],
  [
    'a: Date @dateformat @computed',
    {
      ...{ kind: 'computed', ...base, type: 'Date', fields: [] },
      ...{ needs: [], hasArguments: false, dateArguments: true },
    },
  ],
  [
    'a: Lid @computed',
    {
      ...{ kind: 'computed', ...base, type: 'Lid', fields: lid },
      ...{ needs: [], hasArguments: false, dateArguments: false },
    },
  ],
])('readTable: reads the field "%s"', (text, field) => {
  expect(readField(text)).toEqual(field);
});

test('readTable: appends the fields of Node that a record type does not declare', () => {
  const text = 'type Pan implements Node @record { a: Int }\ntype Lid implements Node @record { id: ID! a: Int }';
  const { tables } = readContract(documentsWith(text));
  expect(tables.map(({ kind, single, all }) => [kind, single, all])).toEqual([
    ['Pan', 'pan', 'allPan'],
    ['Lid', 'lid', 'allLid'],
  ]);
  expect(tables.map(({ fields }) => fields.map(({ name }) => name))).toEqual([
    ['a', 'id', 'parent', 'children', 'internal'],
    ['id', 'a', 'parent', 'children', 'internal'],
  ]);
});

test('readTable: reads nested lists, objects and dates with their paths', () => {
  const types = 'type Rim { c: [Nut] d: Nut }\ntype Nut { e: Date @dateformat f: [Date!] }';
  const { tables } = readContract(documentsWith(`type Pan implements Node @record { a: [Rim!]! }\n${types}`));
  const leaves = (fields: readonly RecordField[]): string[] =>
    fields.flatMap((field) =>
      field.kind === 'object' ? leaves(field.fields) : `${field.path} ${'type' in field ? field.type : ''}`,
    );
  expect(leaves(tables[0]?.fields.slice(0, 1) ?? [])).toEqual([
    ...['a.c.e Date', 'a.c.f Date', 'a.d.e Date', 'a.d.f Date'],
  ]);
});

test.each([
  ['no files without @source', '', undefined],
  ['the files of one pattern', '@source(glob: "pans/*.md")', { globs: ['pans/*.md'] }],
  ['the keys that lead to records', '@source(glob: "pans.yml", at: "all.*")', { globs: ['pans.yml'], at: 'all.*' }],
  [
    'the files of several patterns',
    '@source(glob: ["..a/*.md", "!(b)/...{md,json}"])',
    { globs: ['..a/*.md', '!(b)/...{md,json}'] },
  ],
])('readTable: a record type has the source %s', (_reason, source, wanted) => {
  const { tables } = readContract(documentsWith(`type Pan implements Node @record ${source} { a: Int }`));
  expect(tables[0]?.source).toEqual(wanted);
});

test('listColumns: returns a column for each stored value', () => {
  const text = `type Pan implements Node @record {
    a: Lid! b: [Lid!]! c: [Int]! d: Boolean! e: ID! @alias(of: "id") f: Int @computed g: Pan @child
    h: Pan @link i: [Pan!]! @link j: [Pan] @link k: Pan @link(from: "h2") h2: ID
  }\n${TYPES}`;
  const { tables } = readContract(documentsWith(text));
  const columns = listColumns(tables[0]?.fields ?? []).map(({ name, type }) => `${name}: ${type}`);
  expect(columns.slice(0, 11)).toEqual([
    'a.b: number | null',
    'a.c: 0 | 1 | null',
    'b: string',
    'c: string',
    'd: 0 | 1',
    'h: string | null',
    'i: string',
    'j: string | null',
    'h2: string | null',
    'id: string',
    'parent: string | null',
  ]);
});

describe('a field with @markdown', () => {
  const TEXT =
    'type Pan implements Node @record { body: String! a: Markdown! @markdown b: Markdown @markdown(of: "c") c: String }';

  test('adds the types of Markdown, whose filters have no field with arguments', () => {
    const schema = deriveFullSchema(documentsWith(TEXT));
    const fieldsOf = (type: string): string[] =>
      Object.keys((schema.getType(type) as GraphQLObjectType | undefined)?.getFields() ?? {});
    expect(fieldsOf('Markdown')).toContain('html');
    expect(fieldsOf('MarkdownFilterInput')).toEqual(['plainText', 'timeToRead', 'wordCount']);
    expect(readContract(documentsWith(TEXT)).tables[0]?.fields).toContainEqual(
      expect.objectContaining({ kind: 'computed', name: 'b', markdown: 'c', needs: ['c', 'parent'] }),
    );
  });

  test('adds no types to other contracts', () => {
    expect(
      deriveFullSchema(documentsWith('type Pan implements Node @record { a: Int }')).getType('Markdown'),
    ).toBeUndefined();
  });
});

describe('a field with @search', () => {
  test('adds an argument to the query, and the match to the edges', () => {
    const schema = deriveFullSchema(
      documentsWith('type Pan implements Node @record { a: [String!] @search(weight: 2.5) }'),
    );
    expect(
      schema
        .getQueryType()
        ?.getFields()
        .allPan?.args.map(({ name }) => name),
    ).toContain('search');
    expect(Object.keys((schema.getType('PanEdge') as GraphQLObjectType).getFields())).toEqual([
      ...['next', 'node', 'previous', 'score', 'snippet'],
    ]);
  });

  test('is left out of other types', () => {
    const schema = deriveFullSchema(documentsWith('type Pan implements Node @record { a: String }'));
    expect(
      schema
        .getQueryType()
        ?.getFields()
        .allPan?.args.map(({ name }) => name),
    ).not.toContain('search');
  });
});

test('readContract: reads a heading of comment signs at once', () => {
  // A check whose time doubles with each sign takes half a minute.
  const heading = `${'#'.repeat(32)}\n`;
  const start = performance.now();
  const { tables } = readContract(documentsWith(`${heading}type Pan implements Node @record { a: Int }`));
  expect(tables.map(({ kind }) => kind)).toEqual(['Pan']);
  expect(performance.now() - start).toBeLessThan(10_000);
});
