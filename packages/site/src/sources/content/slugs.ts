import path from 'node:path';
import type { RecordTable } from '@trellis/core/record-types';
import type { SiteSource } from '../site-sources.js';
import { findKey, pathKey } from './content-entry.js';
import type { ParsedEntry } from './content-parser.js';

/**
 * Adds the slug of a file to an entry, for the fields with `@slug` that have no value there. Several entries of a file that is
 * not a text have the same path, but often an `id`, which no field can have.
 */
export function withSlugs(
  { fields, source: { globs } = { globs: [] } }: Pick<RecordTable, 'fields' | 'source'>,
  entry: ParsedEntry,
  file: SluggedFile,
): ParsedEntry {
  const names = fields.flatMap((field) => (field.kind === 'scalar' && field.slug ? [field.name] : []));
  const missing = names.filter((name) => {
    const key = findKey(entry.values, name);
    return key === undefined || entry.values[key] === null;
  });
  if (missing.length === 0) return entry;
  const { id } = entry.values;
  const hasId = entry.body === undefined && (typeof id === 'string' || typeof id === 'number');
  const slug = hasId ? (entry.written?.[pathKey(['id'])] ?? String(id)) : toSlug(file, globs);
  return { ...entry, values: { ...entry.values, ...Object.fromEntries(missing.map((name) => [name, slug])) } };
}

export interface SluggedFile {
  readonly source: Pick<SiteSource, 'directory' | 'workingDirectory'>;
  /** The path below the source. */
  readonly relativePath: string;
}

/**
 * Returns the path of a file below the deepest folder that one of the globs begins with, without its extension and
 * without `index`. A glob applies to the path below the source, and to that below the site's folder.
 */
export function toSlug({ source, relativePath }: SluggedFile, globs: readonly string[]): string {
  const above = path.relative(source.workingDirectory, source.directory);
  const places = [relativePath, ...(above === '' ? [] : [`${above}/${relativePath}`])];
  const below = globs
    .map(findFolder)
    .flatMap((folder) => places.flatMap((place) => (place.startsWith(folder) ? [place.slice(folder.length)] : [])));
  const shortest = below.reduce((found, one) => (one.length < found.length ? one : found), relativePath);
  const name = shortest.slice(0, shortest.length - path.extname(shortest).length);
  return name.replace(/(?:^|\/)index$/u, '').normalize('NFC');
}

/** Returns the folders that a glob begins with, each followed by a slash. */
function findFolder(glob: string): string {
  if (glob.startsWith('!')) return '';
  const folders = glob
    .replace(/^(?:\.\/)+/u, '')
    .split('/')
    .slice(0, -1);
  const end = folders.findIndex((folder) => /[*?[\]{}()|\\]/u.test(folder));
  return (end < 0 ? folders : folders.slice(0, end)).map((folder) => `${folder}/`).join('');
}
