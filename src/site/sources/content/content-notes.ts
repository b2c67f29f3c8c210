import { hash } from 'node:crypto';

import type { SiteProblem } from '../../problems.js';
import type { RecordStore, RecordWriter } from '../../record-store.js';
import type { SiteSource } from '../site-source.js';
import type { ContentKinds } from './content-kinds.js';

/** Cached information about a file with records, so that the file does not have to be read again. */
export interface FileNote {
  /** The number of records in the file, including invalid ones. */
  readonly records: number;
  /** The absolute paths on which its links depend. */
  readonly links: readonly string[];
  /** The first invalid values. */
  readonly problems: readonly SiteProblem[];
  readonly problemCount: number;
}

/** Cache entries by absolute path. A file with one record, no links and no problems has none. */
export type FileNotes = Map<string, FileNote>;

export interface ContentMemo {
  /** `undefined` if all files must be read: at the first start, or when record types or sources changed. */
  readonly notes: FileNotes | undefined;
  /** The record types that may have records from files. */
  readonly kinds: readonly string[];
}

/** Increment it when the same files produce different records. */
const FORMAT = 2;

const DIGEST = 'content.digest';
const NOTES = 'content.notes';
const KINDS = 'content.kinds';

/** Returns a digest that is equal for record types and sources that produce the same records from the same files. */
export function contentDigest({ tables }: ContentKinds, sources: readonly SiteSource[]): string {
  const places = sources.map(({ name, directory, workingDirectory }) => [name, directory, workingDirectory]);
  return hash('md5', JSON.stringify([FORMAT, tables, places]));
}

export function readMemo(store: RecordStore, digest: string): ContentMemo {
  const kinds = JSON.parse(store.meta(KINDS) ?? '[]') as string[];
  if (store.meta(DIGEST) !== digest) return { notes: undefined, kinds };
  return { notes: new Map(JSON.parse(store.meta(NOTES) ?? '[]') as [string, FileNote][]), kinds };
}

/** Marks all files as unread until {@link noteRead} is called. */
export function noteReading(rows: RecordWriter, kinds: readonly string[]): void {
  rows.setMeta(DIGEST, '');
  rows.setMeta(KINDS, JSON.stringify(kinds));
}

export function noteRead(rows: RecordWriter, digest: string, notes: FileNotes): void {
  rows.setMeta(DIGEST, digest);
  rows.setMeta(NOTES, JSON.stringify([...notes]));
}

/** Whether an entry differs from the default for files without one. */
export function isWorthKeeping({ records, links, problemCount }: FileNote): boolean {
  return records > 1 || links.length > 0 || problemCount > 0;
}
