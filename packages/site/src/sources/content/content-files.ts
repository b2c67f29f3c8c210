import { hash } from 'node:crypto';
import path from 'node:path';
import { CONTENT_EXTENSIONS, type RecordTable, type ScalarCodecs } from '@trellis/core/record-types';
import { compilePathGlobs } from '../../patterns/compile-glob.js';
import type { RecordStore } from '../../record-store.js';
import type { RecordTables } from '../../records/record-schema.js';
import type { RecordWriter } from '../../records/record-writer.js';
import type { SiteProblem } from '../problems.js';
import type { SiteSource } from '../site-sources.js';

/** The record types with `@source`, and the files that contain their records. */
export interface ContentTypes {
  readonly tables: readonly RecordTable[];
  of(source: SiteSource): FindContentTypes;
}

/** Returns the record types of the records in a file, given its path below the source. */
export type FindContentTypes = (relativePath: string) => readonly RecordTable[];

const NONE: readonly RecordTable[] = [];

/**
 * Finds the record types of files by their globs. A glob is matched against the path below the site's folder and
 * against the path below the source, which is the only one for a source outside the site's folder.
 */
export function createContentTypes(tables: RecordTables): ContentTypes {
  const kinds = Object.values(tables).flatMap((table) =>
    table.source ? [{ table, matches: compilePathGlobs(table.source.globs) }] : [],
  );
  return {
    tables: kinds.map(({ table }) => table),
    of({ workingDirectory, directory }) {
      if (kinds.length === 0) return () => NONE;
      const above = path.relative(workingDirectory, directory);
      return (relativePath) => {
        if (!CONTENT_NAME.test(relativePath)) return NONE;
        return kinds
          .filter(({ matches }) => matches(relativePath) || (above !== '' && matches(`${above}/${relativePath}`)))
          .map(({ table }) => table);
      };
    },
  };
}

/** Excludes files without records, such as images, that a glob also matches. */
const CONTENT_NAME = new RegExp(`[^/]\\.(?:${CONTENT_EXTENSIONS.join('|')})$`, 'i');

/** Cached information about a file with records, so that the file does not have to be read again. */
export interface FileCacheEntry {
  /** The number of records in the file, including invalid ones. */
  readonly records: number;
  /** The absolute paths on which its links depend. */
  readonly links: readonly string[];
  /** The first invalid values. */
  readonly problems: readonly SiteProblem[];
  readonly problemCount: number;
}

/** Cache entries by absolute path. A file with one record, no links and no problems has none. */
export type FileCache = Map<string, FileCacheEntry>;

interface ContentCache {
  /** `undefined` if all files must be read: at the first start, or when record types or sources changed. */
  readonly notes: FileCache | undefined;
  /** The record types that may have records from files. */
  readonly kinds: readonly string[];
}

/** Increment it when the same files produce different records. */
const FORMAT = 2;

const DIGEST = 'content.digest';
const NOTES = 'content.notes';
const KINDS = 'content.kinds';

/**
 * Returns a digest that is equal for record types, sources and codecs that produce the same records from the same files.
 */
export function contentConfigDigest(
  { tables }: ContentTypes,
  sources: readonly SiteSource[],
  codecs: ScalarCodecs,
): string {
  const places = sources.map(({ name, directory, workingDirectory }) => [name, directory, workingDirectory]);
  const parsers = Object.entries(codecs).map(([scalar, { parse }]) => [scalar, String(parse)]);
  return hash('md5', JSON.stringify([FORMAT, tables, places, ...parsers]));
}

export function readContentCache(store: RecordStore, digest: string): ContentCache {
  const kinds = JSON.parse(store.meta(KINDS) ?? '[]') as string[];
  if (store.meta(DIGEST) !== digest) return { notes: undefined, kinds };
  return { notes: new Map(JSON.parse(store.meta(NOTES) ?? '[]') as [string, FileCacheEntry][]), kinds };
}

/** Marks all files as unread until {@link markReadFinished} is called. */
export function markReadStarted(rows: RecordWriter, kinds: readonly string[]): void {
  rows.setMeta(DIGEST, '');
  rows.setMeta(KINDS, JSON.stringify(kinds));
}

export function markReadFinished(rows: RecordWriter, digest: string, notes: FileCache): void {
  rows.setMeta(DIGEST, digest);
  rows.setMeta(NOTES, JSON.stringify([...notes]));
}

/** Whether an entry differs from the default for files without one. */
export function isWorthCaching({ records, links, problemCount }: FileCacheEntry): boolean {
  return records > 1 || links.length > 0 || problemCount > 0;
}
