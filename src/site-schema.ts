import { readFile } from 'node:fs/promises';
import type { SiteSchemaOptions } from '@trellis/site/graphql/site-schema';
import { StartupError } from './config/startup-error.js';
import type { ProjectConfig } from './project/project.js';

/**
 * Imports the record tables and the resolvers of a project's site, and reads its schema.
 *
 * @throws StartupError if the project has no site.
 */
export async function loadSiteSchema({ site, generated }: ProjectConfig): Promise<SiteSchemaOptions> {
  if (!site) throw new StartupError('This project has no site. "site" of trellis.config.ts adds one');
  const [{ records }, { resolvers, values }, typeDefs] = await Promise.all([
    site.records(),
    site.resolvers(),
    readFile(new URL('site/schema.graphql', generated), 'utf8'),
  ]);
  return { tables: records, typeDefs, resolvers, values };
}
