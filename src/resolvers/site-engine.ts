import { execute, getArgumentValues, isObjectType } from 'graphql';
import type { ExecutionArgs, ExecutionResult, FieldNode, GraphQLFieldMap, GraphQLSchema } from 'graphql';
import { buildSiteSchema } from './schema.js';

/** The site's schema, and what executes requests that it allows. */
export interface SiteEngine {
  readonly schema: GraphQLSchema;
  readonly execute: (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>;
}

/**
 * Executes questions about images by a schema of their own, in which their
 * fields have no arguments: graphql-js would put all nineteen together for each
 * image of a list, which takes longer than all else about it. They are put
 * together once for all images.
 */
export function createSiteEngine(): SiteEngine {
  const schema = buildSiteSchema();
  let forImages: GraphQLSchema | undefined;
  return {
    schema,
    execute: (args) =>
      execute(isAboutImages(args) ? { ...args, schema: (forImages ??= withSharedArguments(schema)) } : args),
  };
}

/** Only the other schema tells of all arguments to who asks about the schema itself. */
function isAboutImages({ document }: ExecutionArgs): boolean {
  const text = document.loc?.source.body ?? '';
  return /\b(?:fixed|fluid|resize|resolutions|sizes)\b/u.test(text) && !/__(?:schema|type)\b/u.test(text);
}

function withSharedArguments(whole: GraphQLSchema): GraphQLSchema {
  const schema = buildSiteSchema();
  const written = imageFieldsOf(whole);
  for (const field of Object.values(imageFieldsOf(schema))) {
    const { resolve } = field;
    const argumentsOf = shareArguments(written[field.name]);
    if (!resolve || field.args.length === 0) continue;
    field.args = [];
    field.resolve = (image, _none, context, info) =>
      resolve(image, argumentsOf(info.fieldNodes[0], info.variableValues), context, info);
  }
  return schema;
}

function imageFieldsOf(schema: GraphQLSchema): GraphQLFieldMap<unknown, unknown> {
  const type = schema.getType('ImageProc');
  if (!isObjectType(type)) throw new Error('Expected the schema to have images.');
  return type.getFields();
}

type Variables = Readonly<Record<string, unknown>>;

/** Variables are those of one operation, so that what was put together for it is known by them. */
function shareArguments(definition: GraphQLFieldMap<unknown, unknown>[string] | undefined) {
  const known = new WeakMap<Variables, Map<FieldNode, Variables>>();
  return (node: FieldNode | undefined, variables: Variables): Variables => {
    if (!definition || !node) return {};
    const nodes = known.get(variables) ?? new Map<FieldNode, Variables>();
    const shared = nodes.get(node) ?? getArgumentValues(definition, node, variables);
    if (nodes.size === 0) known.set(variables, nodes);
    if (!nodes.has(node)) nodes.set(node, shared);
    return shared;
  };
}
