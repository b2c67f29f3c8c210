import { createHash } from 'node:crypto';
import type { RecordStore } from '../record-store.js';
import type { RecordWriter } from '../records/record-writer.js';
import { STAT_FIELDS, type StatField, type StatNumbers, TIMESTAMP_GRANULARITY_MS } from './entries.js';
import { RECORD_FORMAT } from './file-records.js';
import { getPositionRange } from './positions.js';
import type { ScanMemory, StoredEntry } from './scan-plan.js';
import type { SiteSource } from './site-sources.js';
import type { WalkResult } from './walk.js';

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
