import * as site from '@trellis/site/graphql/site-schema';
import type { GraphQLSchema } from 'graphql';
import { records } from '../generated/site/records.js';
import type { SiteResolvers } from '../generated/site/resolvers.js';
import { typeDefs } from '../generated/site/type-defs.js';
import { fileResolvers, fileValues, imageProcResolvers, imageProcValues, siteResolvers } from './fields.js';

const handWritten: SiteResolvers = { File: fileResolvers, ImageProc: imageProcResolvers, Site: siteResolvers };

/** The codecs of the scalars of the application, which the reading of files needs. */
export const codecs = site.listCodecs(handWritten);

const options: site.SiteSchemaOptions = {
  tables: records,
  typeDefs,
  resolvers: handWritten,
  values: { File: fileValues, ImageProc: imageProcValues },
};

/** Builds the executable schema of the site. */
export const buildSiteSchema = (): GraphQLSchema => site.buildExecutableSchema(options);

/** Creates the schema of the site and the function that executes requests on it. */
export const createSiteEngine = (): site.SiteEngine => site.createSchemaEngine(options);
