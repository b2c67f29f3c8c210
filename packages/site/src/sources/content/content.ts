import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { RecordTable, ScalarCodecs } from '@trellis/core/record-types';
import type { PathAlias } from '../../config/site-config.js';
import type { RecordStore } from '../../record-store.js';
import type { RecordTables } from '../../records/record-schema.js';
import type { RecordWriter } from '../../records/record-writer.js';
import { isFolder, type WalkEntries } from '../entries.js';
import { toFileId } from '../file-records.js';
import { formatProblem, type SiteProblem } from '../problems.js';
import type { ContentMemory, PlannedWrite } from '../scan-plan.js';
import { createFindTarget, findSource, type FindTarget, type SiteSource } from '../site-sources.js';
import { openContentParser } from './content-parser.js';
import {
  contentConfigDigest,
  type ContentRows,
  type ContentTypes,
  createContentTypes,
  type FileCache,
  type FileCacheEntry,
  type FindContentTypes,
  getContentId,
  isWorthCaching,
  markReadFinished,
  markReadStarted,
  readContentCache,
  readContentRows,
} from './content-rows.js';

/** The invalid values in the files that were read: the first messages and the total number. */
export interface ContentProblems {
  readonly messages: readonly string[];
  readonly count: number;
}

/** Reads the records of all types with `@source` from files. */
export interface ContentRecords {
  of(source: SiteSource): SourceContent;
  /**
   * Call it when all sources are scanned and have no unread files. Returns the problems of the files that were read,
   * and the first time those of all files.
   */
  settle(): ContentProblems;
  /** Returns the current invalid values, with a limited number per file. */
  problems(): SiteProblem[];
  close(): Promise<void>;
}

/** Reads the records in the files of one source. All paths are relative to the source. */
export interface SourceContent extends ContentMemory {
  /** Whether unchanged files must be read again. */
  readonly hasUnread: boolean;
  /**
   * Marks the files to read again because one of their links leads, or could lead, to one of these paths. Returns
   * whether any of them belongs to this source.
   */
  expect(findChanged: () => ReadonlySet<string>): boolean;
  /** Call it in the first transaction of a scan, so that an interrupted scan is detected. */
  noteStart(rows: RecordWriter): void;
  /** Reads those files of the writes that contain records, for {@link put}. */
  read(entries: WalkEntries, writes: readonly PlannedWrite[]): Promise<void>;
  /** Replaces the records in a file, in the transaction that replaces the record of the file itself. */
  put(rows: RecordWriter, path: string, write: PlannedWrite): void;
  remove(rows: RecordWriter, path: string): void;
  noteEnd(): void;
}

interface ContentOptions {
  readonly store: RecordStore;
  readonly tables: RecordTables;
  readonly sources: readonly SiteSource[];
  readonly aliases?: readonly PathAlias[];
  /** The codecs of the scalars of the application. */
  readonly codecs?: ScalarCodecs;
}

/** The maximum time that the thread is blocked, so that requests can be handled in between. */
const SLICE_MS = 12;

export const openContentRecords = (options: ContentOptions): ContentRecords => new StoredContent(options);

class StoredContent implements ContentRecords {
  readonly kinds: ContentTypes;
  readonly sources: readonly SiteSource[];
  readonly findTarget: FindTarget;
  readonly codecs: ScalarCodecs;
  readonly parser = openContentParser();
  readonly notes: FileCache;
  /** The absolute paths of files to read again because of their links. */
  readonly awaited = new Set<string>();
  /** The indexes of the sources whose files must all be read. */
  readonly unread: Set<number>;
  /** The absolute paths of the files read since the last {@link settle}. */
  readonly reread = new Set<string>();
  readonly #store: RecordStore;
  readonly #digest: string;
  readonly #oldKinds: readonly string[];
  #isStale: boolean;
  #isNoted = false;

  constructor({ store, tables, sources, aliases = [], codecs = {} }: ContentOptions) {
    this.kinds = createContentTypes(tables);
    this.sources = sources;
    this.codecs = codecs;
    this.findTarget = createFindTarget(sources, aliases);
    this.#store = store;
    this.#digest = contentConfigDigest(this.kinds, { sources, aliases, codecs });
    const { notes, kinds: oldKinds } = readContentCache(store, this.#digest);
    this.#oldKinds = oldKinds;
    this.#isStale = notes === undefined;
    this.notes = notes ?? new Map<string, FileCacheEntry>();
    this.unread = new Set(this.#isStale ? sources.map(({ place }) => place) : []);
    for (const file of this.notes.keys()) this.reread.add(file);
  }

  of(source: SiteSource): SourceContent {
    return new FilesOfSource(this, source);
  }

  noteStart(rows: RecordWriter): void {
    const kinds = this.kinds.tables.map(({ kind }) => kind);
    if (!this.#isNoted) markReadStarted(rows, kinds);
    this.#isNoted = true;
    if (!this.#isStale) return;
    this.#isStale = false;
    for (const kind of new Set([...this.#oldKinds, ...kinds])) this.#removeAll(rows, kind);
  }

  settle(): ContentProblems {
    this.awaited.clear();
    if (this.#isNoted) this.#store.write((rows) => markReadFinished(rows, this.#digest, this.notes));
    this.#isNoted = false;
    const notes = [...this.reread].flatMap((file) => this.notes.get(file) ?? []);
    this.reread.clear();
    return {
      messages: notes.flatMap(({ problems }) => problems.map(formatProblem)),
      count: notes.reduce((sum, { problemCount }) => sum + problemCount, 0),
    };
  }

  close(): Promise<void> {
    return this.parser.close();
  }

  problems(): SiteProblem[] {
    return [...this.notes.values()].flatMap(({ problems }) => problems);
  }

  #removeAll(rows: RecordWriter, kind: string): void {
    const ids = [...this.#store.rows(kind, ['id'])].map(({ id }) => String(id));
    for (const id of ids) rows.remove(kind, id);
  }
}

class FilesOfSource implements SourceContent {
  readonly #content: StoredContent;
  readonly #source: SiteSource;
  readonly #kindsOf: FindContentTypes;
  readonly #prepared = new Map<string, ContentRows>();

  constructor(content: StoredContent, source: SiteSource) {
    this.#content = content;
    this.#source = source;
    this.#kindsOf = content.kinds.of(source);
  }

  get hasUnread(): boolean {
    const { awaited, unread } = this.#content;
    return unread.has(this.#source.place) || [...awaited].some((file) => this.#holds(file));
  }

  mustRead(relativePath: string): boolean {
    const { awaited, unread } = this.#content;
    const isUnread = unread.has(this.#source.place) && this.#kindsOf(relativePath).length > 0;
    return isUnread || (awaited.size > 0 && awaited.has(this.#absolute(relativePath)));
  }

  roomOf(relativePath: string): number {
    const { notes } = this.#content;
    return notes.size === 0 ? 1 : (notes.get(this.#absolute(relativePath))?.records ?? 1);
  }

  expect(findChanged: () => ReadonlySet<string>): boolean {
    const { notes, awaited } = this.#content;
    if (notes.size === 0) return false;
    const paths = new Set([...findChanged()].map((relativePath) => this.#absolute(relativePath)));
    let isOurs = false;
    for (const [file, { links }] of notes) {
      if (!links.some((link) => paths.has(link))) continue;
      awaited.add(file);
      isOurs ||= this.#holds(file);
    }
    return isOurs;
  }

  noteStart(rows: RecordWriter): void {
    this.#content.noteStart(rows);
  }

  async read(entries: WalkEntries, writes: readonly PlannedWrite[]): Promise<void> {
    let since = performance.now();
    for (const write of writes) {
      if (isFolder({ mode: entries.mode(write.index) }) || !isNew(write)) continue;
      const relativePath = entries.path(write.index);
      const kinds = this.#kindsOf(relativePath);
      if (kinds.length === 0) continue;
      await this.#prepare(relativePath, kinds, write.room);
      if (performance.now() - since < SLICE_MS) continue;
      await setImmediate();
      since = performance.now();
    }
  }

  async #prepare(relativePath: string, kinds: readonly RecordTable[], room: number): Promise<void> {
    const file = { source: this.#source, relativePath, kinds };
    const read = await readContentRows(file, this.#content);
    if (read.note.records > room) {
      this.#content.notes.set(this.#absolute(relativePath), read.note);
      this.#prepared.clear();
      throw new PositionsExhaustedError();
    }
    this.#prepared.set(relativePath, read);
  }

  put(rows: RecordWriter, relativePath: string, { position, known, digest }: PlannedWrite): void {
    const prepared = this.#prepared.get(relativePath);
    // A file that was deleted or replaced by a folder has no digest.
    if (prepared || (known?.kind === 'File' && digest === undefined)) this.remove(rows, relativePath);
    if (!prepared) return;
    this.#prepared.delete(relativePath);
    for (const { kind, index, row } of prepared.rows) rows.put(kind, row, position + index);
    const file = this.#absolute(relativePath);
    if (isWorthCaching(prepared.note)) this.#content.notes.set(file, prepared.note);
    this.#content.reread.add(file);
  }

  remove(rows: RecordWriter, relativePath: string): void {
    const kinds = this.#kindsOf(relativePath);
    if (kinds.length === 0) return;
    const file = this.#absolute(relativePath);
    const fileId = toFileId(file);
    const count = this.#content.notes.get(file)?.records ?? 1;
    for (const { kind } of kinds) {
      for (let index = 0; index < count; index += 1) rows.remove(kind, getContentId(fileId, kind, index));
    }
    this.#content.notes.delete(file);
  }

  noteEnd(): void {
    this.#prepared.clear();
    const { awaited, unread } = this.#content;
    unread.delete(this.#source.place);
    for (const file of awaited) if (this.#holds(file)) awaited.delete(file);
  }

  #absolute(relativePath: string): string {
    return path.posix.join(this.#source.directory, relativePath);
  }

  #holds(file: string): boolean {
    return findSource(file, this.#content.sources)?.place === this.#source.place;
  }
}

/** Whether the file is new or its content changed. */
function isNew({ inDoubt, digest, known }: PlannedWrite): boolean {
  return digest !== undefined && !(inDoubt && digest === known?.digest);
}

/** Thrown when a file has more records than there are free positions before the next file. */
export class PositionsExhaustedError extends Error {
  override readonly name = 'PositionsExhaustedError';
}
