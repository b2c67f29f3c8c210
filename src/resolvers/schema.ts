import { readFileSync } from 'node:fs';
import * as site from '@trellis/site/graphql/site-schema';
import type { GraphQLSchema } from 'graphql';
import { records } from '../generated/site/records.js';
import { defineResolvers } from '../generated/site/resolvers.js';
import { fileResolvers, fileValues, imageProcResolvers, imageProcValues, siteResolvers } from './fields.js';

const handWritten = defineResolvers({ File: fileResolvers, ImageProc: imageProcResolvers, Site: siteResolvers });

/** The codecs of the scalars of the application, which the reading of files needs. */
export const codecs = site.listCodecs(handWritten);

const options: site.SiteSchemaOptions = {
  tables: records,
  typeDefs: readFileSync(new URL('../generated/site/schema.graphql', import.meta.url), 'utf8'),
  resolvers: handWritten,
  values: { File: fileValues, ImageProc: imageProcValues },
};

/** Builds the executable schema of the site. */
export const buildSiteSchema = (): GraphQLSchema => site.buildExecutableSchema(options);

/** Creates the schema of the site and the function that executes requests on it. */
export const createSiteEngine = (): site.SiteEngine => site.createSchemaEngine(options);
