import { makeExecutableSchema } from '@graphql-tools/schema';
import type { RecordField, RecordTable } from '@trellis/core/record-types';
import type { DateArguments } from '@trellis/site/query/dates';
import {
  execute,
  type ExecutionArgs,
  type ExecutionResult,
  type FieldNode,
  getArgumentValues,
  type GraphQLArgument,
  GraphQLError,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLInputField,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLNullableType,
  GraphQLScalarType,
  GraphQLSchema,
  type GraphQLType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  print,
} from 'graphql';
import { records } from '../generated/site/records.js';
import type { SiteResolvers } from '../generated/site/resolvers.js';
import { typeDefs } from '../generated/site/type-defs.js';
import type { SiteContext } from './context.js';
import { fileResolvers, imageProcResolvers, siteResolvers } from './fields.js';
import { createRecordResolvers } from './records.js';

const handWritten: SiteResolvers = { File: fileResolvers, ImageProc: imageProcResolvers, Site: siteResolvers };

/** Builds the executable schema of the site. */
export function buildSiteSchema(): GraphQLSchema {
  const resolvers = createRecordResolvers(records);
  for (const [type, fields] of Object.entries<object>({ ...handWritten })) {
    resolvers[type] = { ...resolvers[type], ...withDates(records[type as keyof typeof records], fields) };
  }
  return withWideInt(makeExecutableSchema({ typeDefs, resolvers: { ...resolvers, Date: dateScalar } }));
}

type FieldResolvers = Readonly<Record<string, GraphQLFieldResolver<Record<string, unknown>, SiteContext>>>;

/** Applies the arguments of dates to computed dates, whose resolvers return the unformatted time. */
function withDates(table: RecordTable, fields: object): FieldResolvers {
  const formatted = Object.entries(fields as FieldResolvers).map(([name, resolve]) => {
    const field = table.fields.find((one) => one.name === name);
    return [name, takesDateArguments(field) ? formatResult(resolve) : resolve] as const;
  });
  return Object.fromEntries(formatted);
}

const takesDateArguments = (field: RecordField | undefined): boolean =>
  field !== undefined && 'dateArguments' in field && field.dateArguments;

const formatResult =
  (
    resolve: GraphQLFieldResolver<Record<string, unknown>, SiteContext>,
  ): GraphQLFieldResolver<Record<string, unknown>, SiteContext, DateArguments> =>
  async (record, args, context, info) =>
    context.formatDate(await resolve(record, args, context, info), args);

/** Passes text through unchanged. Literals must be strings; variables may also be numbers or booleans. */
const dateScalar = new GraphQLScalarType<unknown, unknown>({
  name: 'Date',
  serialize: (value) => value,
  parseValue: (value) => {
    if (typeof value === 'string') return value;
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    throw new GraphQLError('Expected a date as text; received a list or an object.');
  },
  parseLiteral: (node) => {
    if (node.kind === Kind.STRING) return node.value;
    throw new GraphQLError(`Expected a date as text, such as "2020-02-29"; received ${print(node)}.`, { nodes: node });
  },
});

/**
 * An `Int` for all integers that a double represents exactly. The `Int` of the specification has 32 bits, which the
 * size of a file of 2 GiB exceeds: as the field is `size: Int!`, the error would null the whole list.
 */
const wideInt = new GraphQLScalarType<number, number>({
  name: 'Int',
  description:
    'The `Int` scalar type represents whole numbers from -(2^53 - 1) to 2^53 - 1, so that it can hold file sizes of 2 GiB and more.',
  serialize: (value) => {
    if (typeof value === 'boolean') return value ? 1 : 0;
    return toWholeNumber(typeof value === 'string' && value !== '' ? Number(value) : value);
  },
  parseValue: toWholeNumber,
  parseLiteral: (node) => {
    if (node.kind === Kind.INT) return toWholeNumber(Number(node.value));
    throw new GraphQLError(`Expected a whole number; received ${print(node)}.`, { nodes: node });
  },
});

function toWholeNumber(value: unknown): number {
  if (Number.isSafeInteger(value)) return value as number;
  throw new GraphQLError(`Expected a whole number from -(2^53 - 1) to 2^53 - 1; received ${String(value)}.`);
}

/**
 * Returns a schema with the same types and {@link wideInt} instead of `GraphQLInt`. Changes the types in place, so they
 * must belong to this schema alone, as those of `makeExecutableSchema` do. Types that graphql-js shares between schemas
 * are not changed.
 */
function withWideInt(schema: GraphQLSchema): GraphQLSchema {
  const config = schema.toConfig();
  const types = config.types.filter((type) => type !== GraphQLInt);
  for (const type of types.filter((one) => !isIntrospectionType(one))) {
    if (isInputObjectType(type)) Object.values(type.getFields()).forEach(widen);
    if (isObjectType(type) || isInterfaceType(type)) {
      for (const field of Object.values(type.getFields())) [field, ...field.args].forEach(widen);
    }
  }
  return new GraphQLSchema({ ...config, types });
}

type Typed = GraphQLField<unknown, unknown> | GraphQLArgument | GraphQLInputField;

function widen(typed: Typed): void {
  // Replacing a scalar by a scalar preserves whether a type is an input or output type.
  typed.type = widened(typed.type) as never;
}

function widened(type: unknown): unknown {
  if (isNonNullType(type)) return new GraphQLNonNull(widened(type.ofType) as GraphQLNullableType);
  if (isListType(type)) return new GraphQLList(widened(type.ofType) as GraphQLType);
  return type === GraphQLInt ? wideInt : type;
}

/** The schema of the site, and the function that executes valid requests. */
export interface SiteEngine {
  readonly schema: GraphQLSchema;
  readonly execute: (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>;
}

/**
 * Creates an engine that executes requests on a second schema, in which only the fields of `Query` have arguments.
 * graphql-js would coerce the four arguments of a date and the nineteen of an image for each record of a list, which
 * takes longer than the rest of the execution. Here they are coerced once for all records.
 */
export function createSiteEngine(): SiteEngine {
  const schema = buildSiteSchema();
  let shared: GraphQLSchema | undefined;
  return {
    schema,
    execute: (args) => execute(isIntrospection(args) ? args : { ...args, schema: (shared ??= withSharedArguments()) }),
  };
}

/** Introspection needs the first schema, as the second one lacks arguments. */
function isIntrospection({ document }: ExecutionArgs): boolean {
  return /__(?:schema|type)\b/u.test(document.loc?.source.body ?? '');
}

function withSharedArguments(): GraphQLSchema {
  const schema = buildSiteSchema();
  const types = Object.values(schema.getTypeMap()).filter(isObjectType);
  for (const type of types) {
    // All schemas of the process share the introspection types.
    if (type === schema.getQueryType() || isIntrospectionType(type)) continue;
    for (const field of Object.values(type.getFields())) shareArguments(field);
  }
  return schema;
}

type Arguments = Readonly<Record<string, unknown>>;

function shareArguments(field: GraphQLField<unknown, unknown>): void {
  const { resolve } = field;
  if (!resolve || field.args.length === 0) return;
  const getArguments = createArgumentCache({ ...field });
  field.args = [];
  field.resolve = (record, _none, context, info) =>
    resolve(record, getArguments(info.fieldNodes[0], info.variableValues), context, info);
}

/**
 * Caches coerced arguments: for a node without arguments once for all operations, otherwise by node and operation. The
 * object with the variables identifies the operation.
 */
function createArgumentCache(field: GraphQLField<unknown, unknown>) {
  let defaults: Arguments | undefined;
  const known = new WeakMap<Arguments, Map<FieldNode, Arguments>>();
  return (node: FieldNode | undefined, variables: Arguments): Arguments => {
    if (!node) return {};
    if (!node.arguments?.length) return (defaults ??= getArgumentValues(field, node, variables));
    const nodes = known.get(variables) ?? new Map<FieldNode, Arguments>();
    const shared = nodes.get(node) ?? getArgumentValues(field, node, variables);
    if (nodes.size === 0) known.set(variables, nodes);
    if (!nodes.has(node)) nodes.set(node, shared);
    return shared;
  };
}
