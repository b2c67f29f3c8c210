import { execute, getArgumentValues, isIntrospectionType, isObjectType } from 'graphql';
import type { ExecutionArgs, ExecutionResult, FieldNode, GraphQLField, GraphQLSchema } from 'graphql';
import { buildSiteSchema } from './schema.js';

/** The site's schema, and what executes requests that it allows. */
export interface SiteEngine {
  readonly schema: GraphQLSchema;
  readonly execute: (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>;
}

/**
 * Executes requests by a schema of their own, in which only the fields of
 * `Query` have arguments: graphql-js would put the four of a date and the
 * nineteen of an image together for each record of a list, which takes longer
 * than all else about them. They are put together once for all records.
 */
export function createSiteEngine(): SiteEngine {
  const schema = buildSiteSchema();
  let shared: GraphQLSchema | undefined;
  return {
    schema,
    execute: (args) => execute(isAboutSchema(args) ? args : { ...args, schema: (shared ??= withSharedArguments()) }),
  };
}

/** Only the whole schema tells of all arguments. */
function isAboutSchema({ document }: ExecutionArgs): boolean {
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
  const argumentsOf = createArguments({ ...field });
  field.args = [];
  field.resolve = (record, _none, context, info) =>
    resolve(record, argumentsOf(info.fieldNodes[0], info.variableValues), context, info);
}

/** A node that says nothing means the same in every operation. Variables are those of one, which is known by them. */
function createArguments(field: GraphQLField<unknown, unknown>) {
  let unsaid: Arguments | undefined;
  const known = new WeakMap<Arguments, Map<FieldNode, Arguments>>();
  return (node: FieldNode | undefined, variables: Arguments): Arguments => {
    if (!node) return {};
    if (!node.arguments?.length) return (unsaid ??= getArgumentValues(field, node, variables));
    const nodes = known.get(variables) ?? new Map<FieldNode, Arguments>();
    const shared = nodes.get(node) ?? getArgumentValues(field, node, variables);
    if (nodes.size === 0) known.set(variables, nodes);
    if (!nodes.has(node)) nodes.set(node, shared);
    return shared;
  };
}
