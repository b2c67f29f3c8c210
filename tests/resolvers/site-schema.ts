import { readFileSync } from 'node:fs';
import { buildExecutableSchema, type SiteSchemaOptions } from '@trellis/site/graphql/site-schema';
import type { GraphQLSchema } from 'graphql';
import { records } from '../../src/generated/site/records.js';
import { resolvers, values } from '../../src/resolvers/schema.js';

/** The schema of this repository, with its record tables and resolvers. */
export const siteSchema: SiteSchemaOptions = {
  tables: records,
  typeDefs: readFileSync('src/generated/site/schema.graphql', 'utf8'),
  resolvers,
  values,
};

export const buildSiteSchema = (): GraphQLSchema => buildExecutableSchema(siteSchema);
