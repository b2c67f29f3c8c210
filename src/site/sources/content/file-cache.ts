import { hash } from 'node:crypto';

import type { SiteProblem } from '../../problems.js';
import type { RecordStore } from '../../record-store.js';
import type { RecordWriter } from '../../records/record-writer.js';
import type { SiteSource } from '../site-source.js';
import type { ContentTypes } from './content-types.js';

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

export interface ContentCache {
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

/** Returns a digest that is equal for record types and sources that produce the same records from the same files. */
export function contentConfigDigest({ tables }: ContentTypes, sources: readonly SiteSource[]): string {
  const places = sources.map(({ name, directory, workingDirectory }) => [name, directory, workingDirectory]);
  return hash('md5', JSON.stringify([FORMAT, tables, places]));
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
