import { execute, isObjectType } from 'graphql';
import type { ExecutionArgs, ExecutionResult, GraphQLSchema } from 'graphql';
import { buildSiteSchema } from './schema.js';

/** The site's schema, and what executes requests that it allows. */
export interface SiteEngine {
  readonly schema: GraphQLSchema;
  readonly execute: (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>;
}

/**
 * Executes by a schema without the defaults of image arguments: graphql-js
 * would put all nineteen into an object for each image of a list, which takes
 * longer than all else about it, and those who make images know them anyway.
 * Only who asks about the schema is answered from the whole one.
 */
export function createSiteEngine(): SiteEngine {
  const schema = withoutDefaults(buildSiteSchema());
  let whole: GraphQLSchema | undefined;
  return {
    schema,
    execute: (args) => execute(asksForSchema(args) ? { ...args, schema: (whole ??= buildSiteSchema()) } : args),
  };
}

/** All of these arguments may be left out, so that their defaults decide nothing about what is valid. */
function withoutDefaults(schema: GraphQLSchema): GraphQLSchema {
  const type = schema.getType('ImageProc');
  if (!isObjectType(type)) throw new Error('Expected the schema to have images.');
  for (const argument of Object.values(type.getFields()).flatMap(({ args }) => args)) {
    argument.defaultValue = undefined;
  }
  return schema;
}

const asksForSchema = ({ document }: ExecutionArgs): boolean =>
  /__(?:schema|type)\b/u.test(document.loc?.source.body ?? '__schema');
