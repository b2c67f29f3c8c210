import { type InputObjectTypeDefinitionNode, parse, print } from 'graphql';
import {
  createInnerFields,
  deriveFieldsEnum,
  deriveFilterInput,
  deriveQuery,
  deriveRecordFilter,
  getFilterType,
  listMembers,
  publishSchema,
} from '../../src/site/derive-schema.js';
import { parseDocuments, readContract } from '../../src/site/load-schema.js';
import { documentsWith } from './documents.js';

/** Reads the fields of the record type Pan, without those of Node, and the lookup of inner fields. */
function readPan(fields: string, types = '') {
  const { tables, nodeFields } = readContract(
    documentsWith(`type Pan implements Node @record { ${fields} }\n${types}`),
  );
  const own = (tables[0]?.fields ?? []).filter(({ name }) => !nodeFields.some((field) => field.name === name));
  return { tables, own, nodeFields, inner: createInnerFields(tables, nodeFields) };
}

const memberNames = (fields: string, types?: string): string[] => {
  const { own, inner } = readPan(fields, types);
  return listMembers(own, inner).map(({ name, deprecated }) => (deprecated ? `${name}!` : name));
};

describe('the members of a FieldsEnum', () => {
  test.each([
    ['a scalar', 'a: Int b: [String!]!', '', ['a', 'b']],
    ['an enum', 'a: Heat', 'enum Heat { LOW }', ['a']],
    [
      'the fields of an object, but not the object',
      'a: Lid b: Int',
      'type Lid { c: Int d: Int }',
      ['a___c', 'a___d', 'b'],
    ],
    ['a list of objects and their fields', 'a: [Lid]', 'type Lid { c: Int }', ['a', 'a___c']],
    ['a formatted date, which deprecates nothing', 'a: Date @dateformat b: Int', '', ['a', 'b']],
    ['a computed field without arguments, which deprecates nothing', 'a: Int @computed b: Int', '', ['a', 'b']],
    [
      'a field with arguments, which deprecates the following fields',
      'a: Int b(c: Int): Int @computed d: Int',
      '',
      ['a', 'b!', 'd!'],
    ],
    [
      'an object with arguments, which deprecates its inner fields',
      'a(b: Int): Lid @computed',
      'type Lid { c: Int d: Rim }\ntype Rim { e: Int }',
      ['a___c!', 'a___d___e!'],
    ],
    [
      'at most four segments, the last of which may be a list of objects but not an object',
      'a: A',
      'type A { b: B }\ntype B { c: C }\ntype C { d: D e: [D] f: Int }\ntype D { g: Int }',
      ['a___b___c___e', 'a___b___c___f'],
    ],
  ])('include %s', (_reason, fields, types, members) => {
    expect(memberNames(fields, types)).toEqual(members);
  });

  test('are not deprecated by a field of a related record', () => {
    const members = memberNames(
      'lid: Lid @child b: Int',
      'type Lid implements Node @record { c(d: Int): Int @computed }',
    );
    expect(members.filter((name) => !name.startsWith('lid___'))).toEqual(['b']);
    expect(members.filter((name) => name.startsWith('lid___')).every((name) => name.endsWith('!'))).toBe(true);
  });

  test('include the fields of linked records, and a list of linked records itself', () => {
    const types = 'type Lid implements Node @record { c: Int }';
    expect(memberNames('lid: Lid @link', types).slice(0, 2)).toEqual(['lid___c', 'lid___id']);
    expect(memberNames('lids: [Lid!]! @link', types).slice(0, 3)).toEqual(['lids', 'lids___c', 'lids___id']);
  });

  test('end with the fields of Node', () => {
    const { tables, inner } = readPan('a: Int');
    const names = listMembers(tables[0]?.fields ?? [], inner).map(({ name }) => name);
    expect(names).toHaveLength(87);
    expect(names.slice(0, 3)).toEqual(['a', 'id', 'parent___id']);
    expect(names).toContain('parent___parent___parent___children');
    expect(names).not.toContain('parent___parent___parent___internal___type');
    expect(names.at(-1)).toBe('internal___type');
  });
});

test('deriveFieldsEnum: deprecates members with a reason', () => {
  const members = [
    { name: 'a', deprecated: false },
    { name: 'b___c', deprecated: true },
  ];
  expect(deriveFieldsEnum('Pan', members).trim()).toBe(
    `
"The fields of Pan, its objects and its related records, as paths with \`___\` between the segments."
enum PanFieldsEnum {
  a
  b___c @deprecated(reason: "Sorting on fields that need arguments to resolve is deprecated.")
}`.trim(),
  );
});

test.each([
  ['a: Int', 'IntQueryOperatorInput'],
  ['a: Float', 'FloatQueryOperatorInput'],
  ['a: Date @dateformat', 'DateQueryOperatorInput'],
  ['a: Boolean!', 'BooleanQueryOperatorInput'],
  ['a: ID!', 'StringQueryOperatorInput'],
  ['a: [String!]!', 'StringQueryOperatorInput'],
  ['a: Heat', 'HeatQueryOperatorInput'],
  ['a: Lid', 'LidFilterInput'],
  ['a: [Lid!]', 'LidFilterListInput'],
  ['a(b: Int): Lid @computed', 'LidFilterInput'],
  ['a: Pan @child', 'PanFilterInput'],
  ['a: Pan @link', 'PanFilterInput'],
  ['a: [Pan!]! @link', 'PanFilterListInput'],
])('filterType: a field "%s" has a filter of type %s', (field, type) => {
  const { own, inner } = readPan(field, 'type Lid { c: Int }\nenum Heat { LOW }');
  expect(own.map((only) => getFilterType(only, inner))).toEqual([type]);
});

test('deriveFilterInput: has the fields of the type in the same order', () => {
  const { own, inner } = readPan('b: Int a: String');
  expect(deriveFilterInput('Pan', own, inner).trim()).toBe(
    `
"Conditions on Pan, all of which must match."
input PanFilterInput {
  b: IntQueryOperatorInput
  a: StringQueryOperatorInput
}`.trim(),
  );
});

test.each([
  ['with or and not', 'a: Int', 'a or not'],
  ['without or if a field has that name', 'or: Int a: Int', 'or a not'],
  ['without both if fields have those names', 'not: Int or: Int', 'not or'],
])('deriveRecordFilter: combines conditions %s', (_reason, fields, names) => {
  const { own, inner } = readPan(fields);
  const input = parse(deriveRecordFilter('Pan', own, inner)).definitions[0] as InputObjectTypeDefinitionNode;
  expect(input.fields?.map(({ name }) => name.value).join(' ')).toBe(names);
  const types = input.fields?.map((field) => `${field.name.value}: ${print(field.type)}`);
  for (const type of ['or: [PanFilterInput!]', 'not: PanFilterInput']) {
    expect(types?.includes(type)).toBe(!own.some(({ name }) => type.startsWith(`${name}:`)));
  }
});

test('deriveQuery: has two queries for each record type', () => {
  const { tables, inner } = readPan('a: Int');
  const query = deriveQuery(tables, inner);
  expect(query).toContain('\n  pan(\n    a: IntQueryOperatorInput\n    id: StringQueryOperatorInput\n');
  expect(query).toMatch(/\n {2}\): Pan\n.*\n {2}allPan\(/);
  expect(query).toContain('\n  ): PanConnection!\n');
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
