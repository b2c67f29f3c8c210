import { readFileSync } from 'node:fs';
import {
  buildSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isScalarType,
  print,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
} from 'graphql';
import * as table from './contract-table.js';

const schema = buildSchema(readFileSync(new URL('../../src/generated/site/schema.graphql', import.meta.url), 'utf8'));
const BUILT_IN = new Set(['Boolean', 'Float', 'ID', 'Int', 'String']);
const allTypes = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__') && !BUILT_IN.has(name));

const single = (kind: string): string => kind.charAt(0).toLowerCase() + kind.slice(1);

const ownKinds = Object.keys(table.ownKinds);
/** The lines of the kinds of the example site, and of the types that their fields with `@markdown` add. */
const isOwn = (line: string): boolean =>
  line.startsWith('Markdown') ||
  ownKinds.some((kind) => line.startsWith(kind) || new RegExp(`^Query\\.(${single(kind)}|all${kind})\\b`).test(line));
const types = allTypes.filter(({ name }) => !isOwn(name));

/** Returns a line for each member of a type, such as `File.mtime(locale: String)`. */
const linesOf = (type: GraphQLNamedType): string[] => [
  type.name,
  ...membersOf(type).map((line) => `${type.name}.${line}`),
];

function membersOf(type: GraphQLNamedType): string[] {
  if (isEnumType(type)) return type.getValues().map((value) => value.name + mark(value));
  if (isInputObjectType(type)) return Object.values(type.getFields()).map(inputLine);
  return isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()).flatMap(fieldLines) : [];
}

const fieldLines = (field: GraphQLField<unknown, unknown>): string[] => [
  `${field.name}: ${String(field.type)}${mark(field)}`,
  ...field.args.map((argument) => `${field.name}(${inputLine(argument)})`),
];

function inputLine({ name, type, astNode }: GraphQLArgument | GraphQLInputField): string {
  const value = astNode?.defaultValue;
  return `${name}: ${String(type)}${value === undefined ? '' : ` = ${print(value)}`}`;
}

const mark = ({ deprecationReason }: { deprecationReason?: string | null }): string =>
  deprecationReason == null ? '' : ' @deprecated';

/** Returns the expected lines, derived from the table. */
function expectedLines(): string[] {
  const kinds = table.kinds;
  const filters = table.filtered.map((name) => [`${name}FilterInput`, filterEntries(name)] as const);
  const lists = table.filteredLists.map(
    (name) => [`${name}FilterListInput`, [`elemMatch: ${name}FilterInput`]] as const,
  );
  const sorts = kinds.map((kind) => [`${kind}SortInput`, table.sortInput(kind)] as const);
  const queries = kinds.flatMap((kind) => [`${single(kind)}: ${kind}`, `all${kind}: ${kind}Connection!`]);
  const members = [
    ...[table.objects, table.inputs, table.enums, ...kinds.map(table.connection)].flatMap((part) =>
      Object.entries(part),
    ),
    ...[...filters, ...lists, ...sorts],
    ['Query', queries] as const,
  ];
  return [
    ...table.scalars,
    ...members.flatMap(([type, entries]) => [type, ...entries.map((entry) => `${type}.${entry}`)]),
    ...argumentLines(),
    ...Object.keys(table.extras),
  ];
}

function argumentLines(): string[] {
  const dates = Object.entries(table.formatted).flatMap(([type, names]) =>
    names.split(' ').map((name) => [`${type}.${name}`, table.dateArguments] as const),
  );
  const queries = table.kinds.flatMap((kind) => [
    [`Query.${single(kind)}`, filterEntries(kind)] as const,
    [`Query.all${kind}`, table.listArguments(kind)] as const,
  ]);
  const written = [table.fieldArguments, ...table.kinds.map(table.connectionArguments)].flatMap((part) =>
    Object.entries(part),
  );
  return [...dates, ...queries, ...written].flatMap(([field, entries]) => entries.map((entry) => `${field}(${entry})`));
}

const filterEntries = (type: string): string[] =>
  (table.objects[type] ?? []).map((entry) => {
    const [, name = '', fieldType = ''] = /^(\w+): (\S+)/.exec(entry) ?? [];
    return `${name}: ${filterType(fieldType)}`;
  });

function filterType(fieldType: string): string {
  const name = fieldType.replaceAll(/[[\]!]/g, '');
  if (name in table.objects) return `${name}${fieldType.startsWith('[') ? 'FilterListInput' : 'FilterInput'}`;
  return `${name === 'ID' ? 'String' : name}QueryOperatorInput`;
}

describe('published schema', () => {
  const generated = types.flatMap(linesOf).filter((line) => !isOwn(line));

  test('has exactly the members that the contract lists', () => {
    const expected = new Set(expectedLines());
    const actual = new Set(generated);
    expect([...expected].filter((line) => !actual.has(line))).toEqual([]);
    expect(generated.filter((line) => !expected.has(line))).toEqual([]);
  });

  test.each([
    ['File', 211, 91],
    ['Directory', 119, 0],
    ['ImageProc', 139, 139],
    ['Site', 94, 0],
    ['SitePage', 169, 0],
    ['SitePlugin', 123, 0],
    ['SiteBuildMetadata', 87, 0],
  ])('%sFieldsEnum has %i members, of which %i are deprecated', (kind, members, deprecated) => {
    const lines = generated.filter((line) => line.startsWith(`${kind}FieldsEnum.`));
    expect(lines).toHaveLength(members);
    expect(lines.filter((line) => line.endsWith('@deprecated'))).toHaveLength(deprecated);
  });

  test('has no operations except queries, and the subscription of changes', () => {
    expect(schema.getMutationType()).toBeUndefined();
    expect(Object.keys(schema.getSubscriptionType()?.getFields() ?? {})).toEqual(['siteChanged']);
  });

  test('has no Node types except record types', () => {
    const nodes = types.filter(
      (type) => isObjectType(type) && type.getInterfaces().some(({ name }) => name === 'Node'),
    );
    expect(nodes.map(({ name }) => name).toSorted()).toEqual(table.kinds);
  });

  test('describes every type and every field of hand-written types', () => {
    const undescribed = types.filter((type) => type.description == null).map(({ name }) => name);
    const written = types.filter((type) => type.name in table.objects || type.name in table.inputs);
    const fields = written.flatMap((type) =>
      isScalarType(type) || !('getFields' in type)
        ? []
        : Object.values(type.getFields()).map(
            ({ name, description }) => `${type.name}.${name}: ${description ?? 'nothing'}`,
          ),
    );
    expect(undescribed).toEqual([]);
    expect(fields.filter((line) => line.endsWith(': nothing'))).toEqual([]);
    expect(fields.length).toBeGreaterThan(100);
  });
});
