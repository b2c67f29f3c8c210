import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { SiteSchemaOptions } from '@trellis/site/graphql/site-schema';
import type { SourceModules } from '@trellis/site/sources/source-modules';
import { readEnvironment } from '../config/environment.js';
import { StartupError } from '../config/startup-error.js';
import type { ProjectConfig } from '../project/project.js';

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

/** Returns a warning that names the computed fields without resolvers. The compiler names them too, but a server may run before it. */
export function findMissingResolvers({
  tables,
  resolvers,
}: Pick<SiteSchemaOptions, 'resolvers' | 'tables'>): string | undefined {
  const known = new Map(Object.entries(resolvers as Readonly<Record<string, object>>));
  const missing = Object.values(tables).flatMap(({ kind, fields }) =>
    fields
      .filter((field) => field.kind === 'computed' && field.markdown === undefined)
      .filter(({ name }) => !Object.hasOwn(known.get(kind) ?? {}, name))
      .map(({ name }) => `${kind}.${name}`),
  );
  if (missing.length === 0) return undefined;
  return `These fields have no resolver, so their values are null: ${missing.join(', ')}. "trellis generate --stub" writes them.`;
}

/** Returns a line for each record type without records. The globs of its files may be wrong. */
export function listEmptyTypes(
  { tables }: Pick<SiteSchemaOptions, 'tables'>,
  counts: Readonly<Record<string, number>>,
  directory: string,
): string[] {
  return Object.values(tables).flatMap(({ kind, source }) =>
    source === undefined || (counts[kind] ?? 0) > 0
      ? []
      : [
          `${kind} has no records. Its @source reads ${source.globs.map((glob) => JSON.stringify(glob)).join(', ')} in ${directory}.`,
        ],
  );
}

/** Imports the sources of a project's records in code. */
export async function loadSourceModules({ site }: ProjectConfig): Promise<SourceModules> {
  const entries = Object.entries(site?.sources ?? {});
  const modules = await Promise.all(entries.map(async ([name, load]) => [name, (await load()).default] as const));
  return Object.fromEntries(modules);
}

/**
 * Returns an environment variable of a source, or the content of the file that `<name>_FILE` names.
 *
 * @throws Error if neither is set, or the file can't be read.
 */
export function readSourceVariable(name: string, env = readEnvironment()): string {
  const value = env[name];
  if (value !== undefined && value !== '') return value;
  const file = env[`${name}_FILE`];
  if (file === undefined || file === '') throw new Error(`The environment variable ${name} is not set.`);
  return readFileSync(file, 'utf8').trim();
}
