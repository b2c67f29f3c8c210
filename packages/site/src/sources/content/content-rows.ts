import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { CONTENT_EXTENSIONS, type RecordTable, type ScalarCodecs } from '@trellis/core/record-types';
import prettyBytes from 'pretty-bytes';
import type { PathAlias } from '../../config/site-config.js';
import { compilePathGlobs } from '../../patterns/patterns.js';
import type { RecordStore } from '../../record-store.js';
import type { RecordTables } from '../../records/record-schema.js';
import type { RecordWriter } from '../../records/record-writer.js';
import { describeErrorCode, getErrorCode, isMissingFileError } from '../entries.js';
import { createIdGenerator, type RecordRow, toFileId } from '../file-records.js';
import { formatSourcePath, type SiteProblem } from '../problems.js';
import { type FindTarget, isPathLink, type SiteSource } from '../site-sources.js';
import { ContentError, findKey, NESTED_TOO_DEEPLY } from './content-entry.js';
import type { ContentParser, ParsedContent, ParsedEntry, ValueLocation } from './content-parser.js';
import { findRecords, type LocatedEntry } from './find-records.js';
import { withSlugs } from './slugs.js';
import { validateRecord, type ValidationOptions } from './validate-record.js';

/** The records of one file. */
export interface ContentRows {
  readonly rows: readonly ContentRow[];
  readonly note: FileCacheEntry;
}

interface ContentRow {
  readonly kind: string;
  /** Its index in the file. */
  readonly index: number;
  readonly row: RecordRow;
}

interface ContentFile {
  readonly source: SiteSource;
  /** The path below the source. */
  readonly relativePath: string;
  readonly kinds: readonly RecordTable[];
}

const OWNER = 'trellis-content';
const toContentId = createIdGenerator(OWNER);

/** The number of problems that are reported per file, so that one file does not hide the problems of others. */
const MAX_PROBLEMS = 20;

/** Returns the id of a record, derived from its file and its index in the file. */
export function getContentId(fileId: string, kind: string, index: number): string {
  return toContentId(`${fileId} >> ${kind} ${index}`);
}

/**
 * Reads and validates the records of a file. A deleted file has none, and an unreadable file is reported as a problem.
 */
export async function readContentRows(
  file: ContentFile,
  { findTarget, parser, codecs }: ContentReadContext,
): Promise<ContentRows> {
  const reader = new FileReader(file, findTarget, codecs);
  try {
    const content = await readContentFile(path.posix.join(file.source.root, file.relativePath), parser);
    return await reader.read(content ?? NO_CONTENT);
  } catch (error) {
    const { message, line } = toContentError(error);
    return new FileReader(file, findTarget, codecs).fail(line, message);
  }
}

/** A stack overflow means that the file nests values too deeply. */
function toContentError(error: unknown): ContentError {
  if (error instanceof RangeError) return new ContentError(NESTED_TOO_DEEPLY, 1);
  if (error instanceof ContentError) return error;
  throw error;
}

interface ContentReadContext {
  readonly findTarget: FindTarget;
  readonly parser: ContentParser;
  readonly codecs: ScalarCodecs;
}

const NO_CONTENT: ParsedContent = { entries: [], locate: async () => [] };

/** The maximum time that the thread is blocked, so that requests can be handled in between. */
const SLICE_MS = 12;

class FileReader {
  readonly #file: ContentFile;
  readonly #fileId: string;
  readonly #fit: ValidationOptions;
  readonly #links = new Set<string>();
  /** The first {@link MAX_PROBLEMS} errors. */
  readonly #misfits: { readonly place: ValueLocation; readonly message: string }[] = [];
  #problemCount = 0;

  constructor(file: ContentFile, findTarget: FindTarget, codecs: ScalarCodecs) {
    this.#file = file;
    this.#fileId = toFileId(path.posix.join(file.source.directory, file.relativePath));
    this.#fit = {
      codecs,
      toLinkKey: (field, text) => {
        if (!isPathLink(field)) return text;
        const { id, tried } = findTarget(file, field.type, text);
        for (const candidate of tried) this.#links.add(candidate);
        return id;
      },
    };
  }

  async read({ entries, locate }: ParsedContent): Promise<ContentRows> {
    const rows: ContentRow[] = [];
    let count = 0;
    let since = performance.now();
    for (const table of this.#file.kinds) {
      let index = 0;
      for (const record of findRecords(entries, table.source?.at)) {
        const row = this.#readRow(table, record, index);
        index += 1;
        if (row) rows.push(row);
        if (performance.now() - since < SLICE_MS) continue;
        await setImmediate();
        since = performance.now();
      }
      count = Math.max(count, index);
    }
    const lines = await locate(this.#misfits.map(({ place }) => place));
    const problems = this.#misfits.map(({ message }, index) => this.#toProblem(lines[index] ?? 1, message));
    return { rows, note: this.#toNote(count, problems) };
  }

  /** Returns the result for a file without readable records. */
  fail(line: number, message: string): ContentRows {
    this.#problemCount = 1;
    return { rows: [], note: this.#toNote(0, [this.#toProblem(line, message)]) };
  }

  #toNote(records: number, problems: readonly SiteProblem[]): FileCacheEntry {
    return { records, links: [...this.#links], problems, problemCount: this.#problemCount };
  }

  #readRow(table: RecordTable, { entry, place }: LocatedEntry, index: number): ContentRow | undefined {
    const { kind } = table;
    const { row, misfits } = validateRecord(table.fields, withSlugs(table, entry, this.#file), this.#fit);
    for (const { at, message } of misfits)
      this.#report({ ...place, path: [...place.path, ...at] }, `${kind}.${message}`);
    if (row === undefined) {
      const advice = adviseKeys(entry, table);
      this.#report(place, `${kind}: left out, because a required value is missing or invalid.${advice}`);
      return undefined;
    }
    const own = {
      id: getContentId(this.#fileId, kind, index),
      parent: this.#fileId,
      'internal.type': kind,
      'internal.owner': OWNER,
      'internal.contentDigest': hash('md5', JSON.stringify(row)),
    };
    return { kind, index, row: { ...row, ...own } };
  }

  #report(place: ValueLocation, message: string): void {
    this.#problemCount += 1;
    if (this.#misfits.length < MAX_PROBLEMS) this.#misfits.push({ place, message });
  }

  #toProblem(line: number, reason: string): SiteProblem {
    const { source, relativePath } = this.#file;
    return { path: formatSourcePath(source, relativePath), line, reason };
  }
}

/** Returns advice for an object whose keys look like names of records: its values are objects, and none belongs to a field. */
function adviseKeys({ values, body }: ParsedEntry, { fields, source }: RecordTable): string {
  const all = Object.values(values);
  const isField = fields.some(({ name }) => findKey(values, name) !== undefined);
  const isKeyed =
    body === undefined && all.length > 0 && !isField && all.every((one) => typeof one === 'object' && one !== null);
  if (!isKeyed) return '';
  const keys = source?.at === undefined ? '*' : `${source.at}.*`;
  return ` If each of its keys is a record, write @source(at: "${keys}").`;
}

/** Parsing this much CSV takes about 100 ms. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Reads the records of a file without validating them. Returns `undefined` if the file was deleted.
 *
 * @throws ContentError when the file can't be read, is too large, is not text, or is not valid in its format.
 */
async function readContentFile(file: string, parser: ContentParser): Promise<ParsedContent | undefined> {
  const bytes = await readBytes(file);
  if (bytes === undefined) return undefined;
  const extension = path.extname(file).slice(1).toLowerCase();
  if (!isUtf8(bytes) || bytes.includes(0)) throw new ContentError('expected UTF-8 text; received other bytes.', 1);
  return parser.parse(bytes.toString('utf8'), extension);
}

async function readBytes(file: string): Promise<Buffer | undefined> {
  try {
    const stats = await stat(file);
    // If the file was replaced by a pipe, reading it would block.
    if (!stats.isFile()) return undefined;
    const { size } = stats;
    if (size > MAX_BYTES) {
      const expected = `expected a file of at most ${prettyBytes(MAX_BYTES)}`;
      throw new ContentError(`${expected}; received ${prettyBytes(size)}.`, 1);
    }
    return await readFile(file);
  } catch (error) {
    if (isMissingFileError(error)) return undefined;
    if (error instanceof ContentError) throw error;
    throw new ContentError(`${describeErrorCode(getErrorCode(error))}.`, 1);
  }
}

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
const FORMAT = 6;

const DIGEST = 'content.digest';
const NOTES = 'content.notes';
const KINDS = 'content.kinds';

interface ContentSettings {
  readonly sources: readonly SiteSource[];
  readonly aliases: readonly PathAlias[];
  readonly codecs: ScalarCodecs;
}

/**
 * Returns a digest that is equal for record types, sources, aliases and codecs that produce the same records from the same files.
 */
export function contentConfigDigest({ tables }: ContentTypes, { sources, aliases, codecs }: ContentSettings): string {
  const places = sources.map(({ name, directory, workingDirectory }) => [name, directory, workingDirectory]);
  const parsers = Object.entries(codecs).map(([scalar, { parse }]) => [scalar, String(parse)]);
  return hash('md5', JSON.stringify([FORMAT, tables, places, aliases, ...parsers]));
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
