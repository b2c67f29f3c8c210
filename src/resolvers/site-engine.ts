import { execute, getArgumentValues, isIntrospectionType, isObjectType } from 'graphql';
import type { ExecutionArgs, ExecutionResult, FieldNode, GraphQLField, GraphQLSchema } from 'graphql';
import { buildSiteSchema } from './schema.js';

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
