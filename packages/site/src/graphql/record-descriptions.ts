/** Describes the record types of a schema for the pages, which list and filter the records of any site. */
import type {
  ArgumentDescription,
  DerivedFieldDescription,
  FieldDescription,
  KindDescription,
  NameDescription,
  RecordField,
  RecordTable,
} from '@trellis/core/record-types';
import {
  astFromValue,
  getNamedType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  print,
} from 'graphql';
import type { RecordTables } from '../records/record-schema.js';

type Field = GraphQLField<unknown, unknown>;

/** Describes the record types in the order of the documents. */
export const describeRecordTypes = (schema: GraphQLSchema, tables: RecordTables): readonly KindDescription[] =>
  Object.values(tables).map((table) => describeKind(table, schema.getType(table.kind) as GraphQLObjectType));

function describeKind({ kind, single, all, fields: columns }: RecordTable, type: GraphQLObjectType): KindDescription {
  const isSearchable = columns.some((column) => column.kind === 'scalar' && column.searchWeight !== undefined);
  const fields = Object.values(type.getFields());
  const selected = fields.map((field) => ({ field, selection: selectionOf(field, [kind]) }));
  return {
    ...{ kind, description: type.description ?? '', single, all },
    fields: selected.flatMap(({ field, selection }) =>
      selection === undefined
        ? []
        : [{ ...describeName(field), selection, ...describeColumn(columns.find(({ name }) => name === field.name)) }],
    ),
    ...(isSearchable && { searchable: true }),
    made: fields.filter(isDerived).map(describeMade),
  };
}

/** Describes the column of a field that has one of its own; filters and sorts of the pages use it. */
function describeColumn(field: RecordField | undefined): Pick<FieldDescription, 'column'> {
  if (field?.kind !== 'scalar') return {};
  const { type, list, values } = field;
  return { column: { type, ...(list && { list }), ...(values && { values }) } };
}

const describeMade = (field: Field): DerivedFieldDescription => ({
  ...describeName(field),
  arguments: describeArguments(field.args),
  results: Object.values((getNamedType(field.type) as GraphQLObjectType).getFields()).map(describeName),
});

/** Every record type implements Node. */
const isRecordType = (type: GraphQLNamedType): boolean =>
  isObjectType(type) && type.getInterfaces().some(({ name }) => name === 'Node');

const isDerived = ({ args, type, deprecationReason }: Field): boolean =>
  args.length > 0 && deprecationReason == null && isObjectType(getNamedType(type)) && !isRecordType(getNamedType(type));

/** The selection of a related record: the fields that identify it. */
const RELATED_RECORD = '{ id internal { type description } }';

/** Returns the selection of a complete field; `undefined` if it needs arguments or contains itself. */
function selectionOf({ name, type, args }: Field, inside: readonly string[]): string | undefined {
  const named = getNamedType(type);
  if (args.some(isRequiredArgument)) return undefined;
  if (isLeafType(named)) return name;
  if (!isObjectType(named) || isRecordType(named)) return `${name} ${RELATED_RECORD}`;
  if (args.length > 0 || inside.includes(named.name)) return undefined;
  const inner = Object.values(named.getFields()).map((field) => selectionOf(field, [...inside, named.name]));
  return `${name} { ${inner.filter((selection) => selection !== undefined).join(' ')} }`;
}

/**
 * Describes the arguments of a field, and recursively the fields of input types. Deprecated ones are omitted.
 *
 * @param inside The enclosing input types, which are not described again.
 */
const describeArguments = (
  args: readonly (GraphQLArgument | GraphQLInputField)[],
  inside: readonly string[] = [],
): ArgumentDescription[] =>
  args
    .filter(({ type, deprecationReason }) => deprecationReason == null && !inside.includes(getNamedType(type).name))
    .map((argument) => describeArgument(argument, inside));

function describeArgument(
  { name, description, type, defaultValue }: GraphQLArgument | GraphQLInputField,
  inside: readonly string[],
): ArgumentDescription {
  const named = getNamedType(type);
  const value = astFromValue(defaultValue, type);
  return {
    ...describeName({ name, description }),
    type: String(type).replaceAll('!', ''),
    ...(isNonNullType(type) && { required: true }),
    ...(value && { default: print(value) }),
    ...(isEnumType(named) && { values: named.getValues().map(describeName) }),
    ...(isInputObjectType(named) && {
      arguments: describeArguments(Object.values(named.getFields()), [...inside, named.name]),
    }),
  };
}

interface Described {
  readonly name: string;
  readonly description?: string | null;
}

const describeName = ({ name, description }: Described): NameDescription => ({
  name,
  description: description ?? '',
});
