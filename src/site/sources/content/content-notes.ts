import { hash } from 'node:crypto';

import type { SiteProblem } from '../../problems.js';
import type { RecordStore, RecordWriter } from '../../record-store.js';
import type { SiteSource } from '../site-source.js';
import type { ContentKinds } from './content-kinds.js';

/** What is kept of a file beside its records, so that it need not be read again to know it. */
export interface FileNote {
  /** Records in it, those that were left out as well. */
  readonly records: number;
  /** Absolute paths on which its links depend. */
  readonly links: readonly string[];
  /** The first values that do not fit. */
  readonly problems: readonly SiteProblem[];
  readonly problemCount: number;
}

/** By absolute path; a file with one record, without links and without problems has none. */
export type FileNotes = Map<string, FileNote>;

export interface ContentMemo {
  /** `undefined` when all files are to be read: for the first time, or the kinds or the sources are others. */
  readonly notes: FileNotes | undefined;
  /** The kinds that may have records from files. */
  readonly kinds: readonly string[];
}

/** Changes when the records made from the same files would differ. */
const FORMAT = 2;

const DIGEST = 'content.digest';
const NOTES = 'content.notes';
const KINDS = 'content.kinds';

/** Equal for kinds and sources that make equal records of equal files. */
export function contentDigest({ tables }: ContentKinds, sources: readonly SiteSource[]): string {
  const places = sources.map(({ name, directory, workingDirectory }) => [name, directory, workingDirectory]);
  return hash('md5', JSON.stringify([FORMAT, tables, places]));
}

export function readMemo(store: RecordStore, digest: string): ContentMemo {
  const kinds = JSON.parse(store.meta(KINDS) ?? '[]') as string[];
  if (store.meta(DIGEST) !== digest) return { notes: undefined, kinds };
  return { notes: new Map(JSON.parse(store.meta(NOTES) ?? '[]') as [string, FileNote][]), kinds };
}

/** Until {@link noteRead}, all files are to be read. */
export function noteReading(rows: RecordWriter, kinds: readonly string[]): void {
  rows.setMeta(DIGEST, '');
  rows.setMeta(KINDS, JSON.stringify(kinds));
}

export function noteRead(rows: RecordWriter, digest: string, notes: FileNotes): void {
  rows.setMeta(DIGEST, digest);
  rows.setMeta(NOTES, JSON.stringify([...notes]));
}

/** Whether there is anything in it that a file without a note has not. */
export function isWorthKeeping({ records, links, problemCount }: FileNote): boolean {
  return records > 1 || links.length > 0 || problemCount > 0;
}
