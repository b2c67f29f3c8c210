import { createHash } from 'node:crypto';
import type { RecordStore } from '../record-store.js';
import type { RecordWriter } from '../records/record-writer.js';
import type { SqlValue } from '../records/sql.js';
import { findPendingFile } from './digests/large-file-digests.js';
import {
  type FileFingerprint,
  isFolder,
  isUnchangedFile,
  STAT_FIELDS,
  type StatField,
  type StatNumbers,
  TIMESTAMP_GRANULARITY_MS,
} from './entries.js';
import {
  createEntryRecords,
  ENTRY_ROW,
  IMAGE_ROW,
  isImage,
  RECORD_FORMAT,
  type SourceLocation,
} from './file-records.js';
import {
  assignPositions,
  getPositionRange,
  nextPosition,
  POSITION_GAP,
  POSITIONS_PER_SOURCE,
  type SiteSource,
} from './site-sources.js';
import type { WalkResult } from './walk.js';

/** A stored file or folder. */
export interface StoredEntry extends FileFingerprint {
  readonly kind: 'File' | 'Directory';
  readonly path: string;
  readonly id: string;
  /** Relative to the first position of its source. */
  readonly position: number;
  readonly digest: string;
}

/** A record to write. A file without a digest must be read first. */
export interface PlannedWrite {
  readonly index: number;
  readonly position: number;
  /** The number of positions from here to the next entry. */
  readonly room: number;
  readonly digest: string | undefined;
  /** The stored record at this path. */
  readonly known: StoredEntry | undefined;
  /** Whether `known` stays unchanged if the file turns out to have the same digest. */
  readonly inDoubt: boolean;
}

export interface ScanPlan {
  readonly removals: readonly StoredEntry[];
  /** Sorted by path. */
  readonly writes: readonly PlannedWrite[];
}

export interface ScanMemory {
  /** The stored entries by relative path. */
  readonly known: ReadonlyMap<string, StoredEntry>;
  /** Whether the last scan used the same record format and source configuration. */
  readonly sameMaker: boolean;
  /** Digests of files that changed at this time (in milliseconds since 1970) or later are not trusted. */
  readonly trustedUntil: number;
  /** The first position of the source. */
  readonly firstPosition: number;
  readonly content?: ContentMemory;
}

/** Information about the records in the text of files. */
export interface ContentMemory {
  /** Whether a file must be read although it did not change. */
  mustRead(path: string): boolean;
  /** Returns the known number of positions that the records of a file take. */
  roomOf(path: string): number;
}

/** Plans the writes and removals that bring the store in line with a walk. */
export function planScan(walk: WalkResult, memory: ScanMemory): ScanPlan {
  const order = inPathOrder(walk);
  const paths = order.map((index) => walk.entries.path(index));
  const positions = memory.sameMaker
    ? assignPositions(paths.map((path) => memory.known.get(path)?.position))
    : undefined;
  if (positions === undefined || !haveRoom(paths, positions, memory)) return planRenumbering(walk, memory, order);
  const left = new Map(memory.known);
  const writes = order.flatMap((index, place) => {
    const known = memory.known.get(paths[place] ?? '');
    left.delete(paths[place] ?? '');
    const position = memory.firstPosition + (positions[place] ?? 0);
    return planEntry({ walk, memory, index, position, room: roomAt(positions, place), known }) ?? [];
  });
  return { removals: [...left.values()], writes };
}

/** Returns the paths of files and folders that were added, removed, replaced or renumbered. */
export function getChangedPaths({ entries }: WalkResult, { removals, writes }: ScanPlan): ReadonlySet<string> {
  const changed = new Set(removals.map(({ path }) => path));
  for (const { index, known } of writes) {
    const isSame = known && isFolder({ mode: entries.mode(index) }) === (known.kind === 'Directory');
    if (!isSame) changed.add(entries.path(index));
  }
  return changed;
}

function haveRoom(paths: readonly string[], positions: readonly number[], { content }: ScanMemory): boolean {
  return content === undefined || paths.every((path, place) => content.roomOf(path) <= roomAt(positions, place));
}

function roomAt(positions: readonly number[], place: number): number {
  return (positions[place + 1] ?? POSITIONS_PER_SOURCE) - (positions[place] ?? 0);
}

/** Sorts by UTF-16 code unit, as JavaScript compares strings. */
function inPathOrder({ entries, gone }: WalkResult): number[] {
  const paths = entries.paths;
  const order = Array.from({ length: entries.length }, (_, index) => index).filter((index) => !gone.has(index));
  return order.sort((one, other) => ((paths[one] ?? '') < (paths[other] ?? '') ? -1 : 1));
}

function planEntry(entry: {
  walk: WalkResult;
  memory: ScanMemory;
  index: number;
  position: number;
  room: number;
  known: StoredEntry | undefined;
}): PlannedWrite | undefined {
  const { memory, index, position, room, known } = entry;
  const stats = entry.walk.entries.stats(index);
  const write = { index, position, room, digest: undefined, known, inDoubt: false };
  const sameKind = known !== undefined && isFolder(stats) === (known.kind === 'Directory');
  if (!sameKind || !isUnchangedFile(stats, known)) return write;
  if (isFolder(stats)) return undefined;
  const mustRead = memory.content?.mustRead(known.path) ?? false;
  if (findPendingFile(known.digest) !== undefined) return write;
  if (isTrusted(known, memory)) return mustRead ? { ...write, digest: known.digest } : undefined;
  return { ...write, inDoubt: !mustRead };
}

/** Plans to write every record again at a new position, reusing trusted digests. */
function planRenumbering({ entries }: WalkResult, memory: ScanMemory, order: readonly number[]): ScanPlan {
  const writes = order.map((index, place): PlannedWrite => {
    const known = memory.known.get(entries.path(index));
    const isValid = known?.kind === 'File' && isUnchangedFile(entries.stats(index), known) && isTrusted(known, memory);
    const digest = isValid && findPendingFile(known.digest) === undefined ? known.digest : undefined;
    const position = memory.firstPosition + nextPosition(place);
    return { index, position, room: POSITION_GAP, digest, known: undefined, inDoubt: false };
  });
  return { removals: [...memory.known.values()], writes };
}

function isTrusted(known: StoredEntry, { trustedUntil }: ScanMemory): boolean {
  return known.ctimeMs < trustedUntil;
}

type MetaName = 'maker' | 'signatures' | 'trustedUntil';

const keyOf = (name: MetaName, { place }: Pick<SiteSource, 'place'>): string => `crawl.${name}.${place}`;

/** Whether the last scan was finished and all folders still have the same signatures. */
export function isUnchanged(store: RecordStore, source: SiteSource, { signatures, complete }: Signatures): boolean {
  return (
    complete &&
    store.meta(keyOf('maker', source)) === makerOf(source) &&
    store.meta(keyOf('signatures', source)) === toText(signatures) &&
    !isEmpty(store.rows('Directory', ['id'], getPositionRange(source.place)))
  );
}

/** Whether the source was never scanned, so that all of its files must be read. */
export function isFirstScan(store: RecordStore, source: SiteSource): boolean {
  return store.meta(keyOf('maker', source)) === undefined;
}

export function readScanMemory(store: RecordStore, source: SiteSource): ScanMemory {
  return {
    known: new Map([...knownEntries(store, 'Directory', source), ...knownEntries(store, 'File', source)]),
    sameMaker: store.meta(keyOf('maker', source)) === makerOf(source),
    trustedUntil: Number(store.meta(keyOf('trustedUntil', source)) ?? 0),
    firstPosition: getPositionRange(source.place).from,
  };
}

/**
 * Records the start of a scan by deleting the signatures, so that an interrupted scan is detected. The digests of
 * previous scans stay trusted as before until this one is finished.
 */
export function recordScanStart(writer: RecordWriter, source: SiteSource, memory: ScanMemory, startedMs: number): void {
  writer.setMeta(keyOf('maker', source), makerOf(source));
  writer.setMeta(keyOf('signatures', source), '');
  if (memory.trustedUntil === 0)
    writer.setMeta(keyOf('trustedUntil', source), String(startedMs - TIMESTAMP_GRANULARITY_MS));
}

export function recordScanEnd(
  writer: RecordWriter,
  source: SiteSource,
  { signatures }: Signatures,
  startedMs: number,
): void {
  writer.setMeta(keyOf('signatures', source), toText(signatures));
  writer.setMeta(keyOf('trustedUntil', source), String(startedMs - TIMESTAMP_GRANULARITY_MS));
}

/**
 * Records an update from watching: the signatures of the last scan are no longer valid, and all changes before
 * `untilMs` have been read.
 */
export function recordWatchedUpdate(writer: RecordWriter, source: SiteSource, untilMs: number): void {
  writer.setMeta(keyOf('signatures', source), '');
  writer.setMeta(keyOf('trustedUntil', source), String(untilMs));
}

function makerOf({ name, directory, workingDirectory }: SiteSource): string {
  return JSON.stringify([RECORD_FORMAT, name, directory, workingDirectory]);
}

function toText(signatures: ReadonlyMap<string, string>): string {
  return JSON.stringify([...signatures].sort(([one], [other]) => (one < other ? -1 : 1)));
}

function isEmpty(rows: Iterable<unknown>): boolean {
  for (const _ of rows) return false;
  return true;
}

/** Returns the stored file or folder at a position of a source, with all of its stat numbers. */
export function findStoredEntry(
  store: RecordStore,
  source: SiteSource,
  { path, position }: Pick<StoredEntry, 'path' | 'position'>,
): (StoredEntry & StatNumbers) | undefined {
  for (const kind of ['File', 'Directory'] as const) {
    const row = store.at(
      kind,
      ['id', 'internal.contentDigest', ...STAT_FIELDS],
      getPositionRange(source.place).from + position,
    );
    if (row === undefined) continue;
    const numbers = Object.fromEntries(STAT_FIELDS.map((field) => [field, Number(row[field])])) as Record<
      StatField,
      number
    >;
    return { kind, path, position, id: String(row.id), digest: String(row['internal.contentDigest']), ...numbers };
  }
  return undefined;
}

const COLUMNS = ['id', 'relativePath', 'size', 'mtimeMs', 'ctimeMs', 'ino', 'internal.contentDigest'] as const;

function* knownEntries(
  store: RecordStore,
  kind: 'File' | 'Directory',
  { place }: SiteSource,
): Generator<[string, StoredEntry]> {
  const range = getPositionRange(place);
  const rows = store.rows(kind, COLUMNS, range);
  for (const { id, position, relativePath, 'internal.contentDigest': digest, ...witness } of rows) {
    const path = String(relativePath);
    const { size, mtimeMs, ctimeMs, ino } = witness;
    const numbers = { size: Number(size), mtimeMs: Number(mtimeMs), ctimeMs: Number(ctimeMs), ino: Number(ino) };
    yield [
      path,
      { kind, path, id: String(id), position: Number(position) - range.from, digest: String(digest), ...numbers },
    ];
  }
}

export interface Signatures {
  /** The signatures by relative path of the folder. */
  readonly signatures: ReadonlyMap<string, string>;
  /** Whether every folder has a signature. */
  readonly complete: boolean;
}

/**
 * Signs each folder by the names, sizes, times of change and inodes of the folder and of its direct entries. Equal
 * signatures let an unchanged site start without reading its records.
 *
 * @param trustedUntil A folder with an entry that changed at this time (in milliseconds since 1970) or later gets no
 * signature, because the entry may change again within the same tick of the file system's clock.
 */
export function signFolders({ entries, folders, gone }: WalkResult, trustedUntil: number): Signatures {
  const signatures = new Map<string, string>();
  for (const { index, from, to } of folders) {
    if (gone.has(index)) continue;
    let names = '';
    let latest = entries.changedMs(index);
    const base = entries.path(index).length + (index === 0 ? 0 : 1);
    for (let entry = from; entry < to; entry += 1) {
      names += `${entries.path(entry).slice(base)}/`;
      latest = Math.max(latest, entries.changedMs(entry));
    }
    const digest = createHash('md5').update(entries.witnesses(index)).update(entries.witnesses(from, to)).update(names);
    if (latest < trustedUntil) signatures.set(entries.path(index), digest.digest('base64url'));
  }
  return { signatures, complete: signatures.size === folders.length };
}

/** Converts planned writes to records and writes them. */
export interface EntryWriter {
  /** The entries that were deleted after the walk had found them. */
  readonly gone: ReadonlySet<number>;
  put(rows: RecordWriter, write: PlannedWrite): void;
  remove(rows: RecordWriter, known: StoredEntry): void;
}

export function createEntryWriter(source: SourceLocation, { entries, gone: goneFolders }: WalkResult): EntryWriter {
  const records = createEntryRecords(source);
  const gone = new Set(goneFolders);

  function remove(rows: RecordWriter, known: StoredEntry): void {
    rows.remove(known.kind, known.id);
    if (known.kind === 'File' && isImage(known.path)) rows.remove('ImageProc', records.imageId(known.id));
  }

  function putEntry(rows: RecordWriter, kind: string, values: SqlValue[], { index, position }: PlannedWrite): void {
    entries.pushNumbers(index, values);
    rows.insert(kind, ENTRY_ROW, values, position);
  }

  function putFile(rows: RecordWriter, write: PlannedWrite, digest: string): void {
    const path = entries.path(write.index);
    const values = records.file(path, entries.stats(write.index), digest);
    putEntry(rows, 'File', values, write);
    if (isImage(path)) rows.insert('ImageProc', IMAGE_ROW, records.image(String(values[0]), digest), write.position);
  }

  function putFolder(rows: RecordWriter, write: PlannedWrite): void {
    const values = records.directory(entries.path(write.index), entries.stats(write.index));
    putEntry(rows, 'Directory', values, write);
  }

  return {
    gone,
    remove,
    put(rows, write) {
      const { index, digest, known, inDoubt } = write;
      const folder = isFolder({ mode: entries.mode(index) });
      const isThere = folder || digest !== undefined;
      if (known && (!isThere || folder !== (known.kind === 'Directory'))) remove(rows, known);
      if (folder) putFolder(rows, write);
      else if (digest === undefined) gone.add(index);
      else if (!inDoubt || digest !== known?.digest) putFile(rows, write, digest);
    },
  };
}
