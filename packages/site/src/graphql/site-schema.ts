import { makeExecutableSchema } from '@graphql-tools/schema';
import type { ScalarCodec, ScalarCodecs } from '@trellis/core/record-types';
import {
  type DocumentNode,
  execute,
  type ExecutionArgs,
  type ExecutionResult,
  type FieldNode,
  getArgumentValues,
  getNamedType,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLScalarType,
  type GraphQLSchema,
  isAbstractType,
  isIntrospectionType,
  isObjectType,
  Kind,
  parse,
} from 'graphql';
import type { DateArguments } from '../query/dates.js';
import type { RecordTables } from '../records/record-schema.js';
import { createComputedFields, type FieldFunctions } from './computed-fields.js';
import type { RecordContext } from './context.js';
import { createRecordResolvers, type Resolvers } from './record-resolvers.js';
import { findRepeatableDocuments, type RepeatableDocuments } from './repeatable.js';
import { codecScalar, dateScalar, withWideInt } from './scalars.js';
import { bind, getBinding } from './selection.js';

/** A generated site contract with its hand-written parts. */
export interface SiteSchemaOptions {
  /** `records` of the generated `records.ts`. */
  readonly tables: RecordTables;
  /** The text of the published schema. */
  readonly typeDefs: string;
  /** The hand-written resolvers and codecs: the generated type `SiteResolvers`. */
  readonly resolvers: object;
  /**
   * Functions by type and field that replace resolvers of computed fields in filters, sorts and groups. A field needs one
   * if its resolver does expensive work, or if its result contains something that is different each time.
   */
  readonly values?: object;
}

/** Returns the codecs among hand-written resolvers, which `openSite` needs to read files. */
export function listCodecs(resolvers: object): ScalarCodecs {
  const entries = Object.entries(resolvers as Readonly<Record<string, Partial<ScalarCodec<unknown>>>>);
  return Object.fromEntries(
    entries.flatMap(([name, { parse, serialize }]) => (parse && serialize ? [[name, { parse }]] : [])),
  );
}

/** Builds the executable schema of a site. */
export function buildExecutableSchema(options: SiteSchemaOptions): GraphQLSchema {
  const schema = buildUnbound(options);
  const [resolvers, values] = [options.resolvers as FieldFunctions, (options.values ?? {}) as FieldFunctions];
  const { tables } = options;
  bind(schema, { tables, computedFor: createComputedFields({ schema, tables, resolvers, values }) });
  return schema;
}

function buildUnbound({ tables, ...options }: SiteSchemaOptions): GraphQLSchema {
  const typeDefs = parse(options.typeDefs, { noLocation: true });
  const derived = createRecordResolvers(tables);
  const merged = { ...merge(derived, options.resolvers as FieldFunctions, listScalars(typeDefs)), Date: dateScalar };
  const schema = withWideInt(makeExecutableSchema({ typeDefs, resolvers: merged }));
  applyDateArguments(schema, derived);
  resolveKinds(schema);
  return schema;
}

/** Adds the hand-written resolvers to the derived ones. The entry of a scalar is its codec. */
function merge(
  derived: Resolvers,
  written: FieldFunctions,
  scalars: readonly string[],
): Record<string, GraphQLScalarType | FieldFunctions[string]> {
  const merged: Record<string, GraphQLScalarType | FieldFunctions[string]> = { ...(derived as FieldFunctions) };
  for (const [name, members] of Object.entries(written)) {
    merged[name] = scalars.includes(name)
      ? codecScalar(name, members as unknown as ScalarCodec<never>)
      : { ...(derived as FieldFunctions)[name], ...members };
  }
  return merged;
}

const listScalars = ({ definitions }: DocumentNode): readonly string[] =>
  definitions.flatMap((one) => (one.kind === Kind.SCALAR_TYPE_DEFINITION ? [one.name.value] : []));

const DATE_ARGUMENTS = ['difference', 'formatString', 'fromNow', 'locale'];

/** Applies the arguments of dates to the results of fields whose resolvers are not derived. */
function applyDateArguments(schema: GraphQLSchema, derived: Resolvers): void {
  for (const type of Object.values(schema.getTypeMap()).filter(isObjectType)) {
    for (const field of Object.values(type.getFields())) {
      const isDate = getNamedType(field.type).name === 'Date' && field.args.length === DATE_ARGUMENTS.length;
      if (!isDate || derived[type.name]?.[field.name]) continue;
      if (field.args.every(({ name }) => DATE_ARGUMENTS.includes(name))) field.resolve = formatResult(field);
    }
  }
}

/** Returns a resolver that formats the date of a field. */
function formatResult({
  name,
  resolve = (object) => (object as Readonly<Record<string, unknown>>)[name],
}: GraphQLField<unknown, unknown>): GraphQLFieldResolver<unknown, RecordContext, DateArguments> {
  return async (record, args, context, info) => context.formatDate(await resolve(record, args, context, info), args);
}

/** Finds the type of a record in a field of an interface or a union by its kind, unless a resolver is written by hand. */
function resolveKinds(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap()).filter(isAbstractType)) type.resolveType ??= toKind;
}

/** Records that a query read have `__typename`; others have the column, or the object, of `internal.type`. */
function toKind(value: unknown): string | undefined {
  const record = value as Readonly<Record<string, unknown>>;
  const { type } = (record.internal ?? {}) as { readonly type?: unknown };
  const kind = record.__typename ?? record['internal.type'] ?? type;
  return typeof kind === 'string' ? kind : undefined;
}

/** The schema of the site, and the function that executes valid requests. */
export interface SiteEngine {
  readonly schema: GraphQLSchema;
  /** The documents whose results stay the same until a record changes. */
  readonly repeatable: RepeatableDocuments;
  readonly execute: (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>;
}

/**
 * Creates an engine that executes requests on a second schema, in which only the fields of `Query` have arguments.
 * graphql-js would coerce the four arguments of a date and the nineteen of an image for each record of a list, which
 * takes longer than the rest of the execution. Here they are coerced once for all records.
 */
export function createSchemaEngine(options: SiteSchemaOptions): SiteEngine {
  const schema = buildExecutableSchema(options);
  let shared: GraphQLSchema | undefined;
  return {
    schema,
    repeatable: findRepeatableDocuments(schema, options.resolvers as FieldFunctions),
    execute: (args) =>
      execute(isIntrospection(args) ? args : { ...args, schema: (shared ??= withSharedArguments(options, schema)) }),
  };
}

/** Introspection needs the first schema, as the second one lacks arguments. */
function isIntrospection({ document }: ExecutionArgs): boolean {
  return /__(?:schema|type)\b/u.test(document.loc?.source.body ?? '');
}

/** Computed fields keep the default arguments of the first schema. */
function withSharedArguments(options: SiteSchemaOptions, first: GraphQLSchema): GraphQLSchema {
  const schema = buildUnbound(options);
  bind(schema, getBinding(first));
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
