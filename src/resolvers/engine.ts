import DataLoader from 'dataloader';
import {
  execute,
  type ExecutionArgs,
  type ExecutionResult,
  type FieldNode,
  getArgumentValues,
  type GraphQLField,
  type GraphQLSchema,
  isIntrospectionType,
  isObjectType,
} from 'graphql';
import type { ComputedValues } from '@trellis/site/query/record-queries';
import type { ResolverBudget, SiteContext, SiteServices } from './context.js';
import { createComputedValues } from './fields.js';
import { buildSiteSchema } from './schema.js';
import type { ImagePolicy } from './stored-arguments.js';

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

export const createSiteContext = (services: SiteServices, budget: ResolverBudget): SiteContext =>
  new RequestContext(services, budget);

/** Creates its loaders on first use, as most requests load no image and compute nothing. */
class RequestContext implements SiteContext {
  readonly records: SiteServices['records'];
  readonly publicFiles: SiteServices['publicFiles'];
  readonly pictures: SiteServices['pictures'];
  readonly images: SiteServices['images'];
  readonly imagePolicy: ImagePolicy;
  readonly formatDate: SiteServices['formatDate'];
  readonly budget: ResolverBudget;
  #loadPicture: SiteContext['loadImageSource'] | undefined;
  #computed: ComputedValues | undefined;

  constructor(
    { records, publicFiles, pictures, images, imagePolicy, formatDate }: SiteServices,
    budget: ResolverBudget,
  ) {
    this.records = records;
    this.publicFiles = publicFiles;
    this.pictures = pictures;
    this.images = images;
    this.imagePolicy = imagePolicy;
    this.formatDate = formatDate;
    this.budget = budget;
  }

  get loadImageSource(): SiteContext['loadImageSource'] {
    return (this.#loadPicture ??= createImageLoader(this.pictures));
  }

  get computed(): ComputedValues {
    return (this.#computed ??= createComputedValues(this));
  }
}

/** Batches the images that the records of a list request in the same turn. A deleted file has no image. */
function createImageLoader({ findAll }: SiteServices['pictures']): SiteContext['loadImageSource'] {
  const loader = new DataLoader(async (ids: readonly string[]) => {
    const found = findAll(ids);
    return ids.map((id) => found.get(id));
  });
  return (id) => loader.load(id);
}
