import { AppError } from '@trellis/core/errors';
import type { RecordStore } from '../record-store.js';
import type { RecordWriter } from '../records/record-writer.js';
import {
  type ContentProblems,
  type ContentRecords,
  PositionsExhaustedError,
  type SourceContent,
} from './content/content.js';
import { digestWrites, measureWork, READ_AHEAD_MIN_ENTRIES, ReadAhead } from './digests/digest-writes.js';
import { findPendingFile, type LargeFileDigests } from './digests/large-file-digests.js';
import { type EntryProblem, isFolder, TIMESTAMP_GRANULARITY_MS, type WalkEntries } from './entries.js';
import { isImage } from './file-records.js';
import type { EntryProblems, SiteProblem } from './problems.js';
import {
  createEntryWriter,
  type EntryWriter,
  getChangedPaths,
  isFirstScan,
  isUnchanged,
  type PlannedWrite,
  planScan,
  readScanMemory,
  recordScanEnd,
  recordScanStart,
  type ScanPlan,
  type Signatures,
  signFolders,
} from './scan-plan.js';
import type { SiteSource } from './site-sources.js';
import { walk, type WalkObserver, type WalkResult } from './walk.js';

interface ScanSourcesOptions {
  readonly sources: readonly SiteSource[];
  readonly store: RecordStore;
  readonly content: ContentRecords;
  /** Updated with the problems of these sources. */
  readonly problems: EntryProblems;
  readonly late?: LargeFileDigests;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ScanProgress) => void;
  /** Returns the observer of a source's folders and links. */
  readonly observerOf?: (source: SiteSource) => WalkObserver;
  /** Whether each source is written in one transaction. */
  readonly atomic?: boolean;
}

interface SourcesScanResult {
  readonly summary: ScanSummary;
  readonly problems: ContentProblems;
  /** The entries that are newly skipped. */
  readonly skipped: readonly SiteProblem[];
  /** The sources that can't be read at all; their records are unchanged. */
  readonly failures: readonly SourceFailure[];
}

interface SourceFailure {
  readonly source: SiteSource;
  readonly error: AppError;
}

/** Scans one source after the other, and again those with links to files that a later source has added or removed. */
export async function scanSources(from: ScanSourcesOptions): Promise<SourcesScanResult> {
  const { sources, content } = from;
  const summaries = new Map<SiteSource, ScanSummary>();
  const failures: SourceFailure[] = [];
  const skipped: SiteProblem[] = [];
  const scan = async (source: SiteSource): Promise<void> => {
    try {
      const { summary, fresh } = await scanWithProblems(source, from);
      const { hashed, milliseconds } = summaries.get(source) ?? NOTHING;
      const both = { hashed: hashed + summary.hashed, milliseconds: milliseconds + summary.milliseconds };
      summaries.set(source, { ...summary, ...both });
      skipped.push(...fresh);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      failures.push({ source, error });
      skipped.push(...from.problems.replace(source, [{ path: '', reason: toReason(error), isName: false }]));
    }
  };
  for (const source of sources) await scan(source);
  for (const source of summaries.keys()) if (content.of(source).hasUnread) await scan(source);
  return { summary: [...summaries.values()].reduce(add, NOTHING), problems: content.settle(), skipped, failures };
}

async function scanWithProblems(
  source: SiteSource,
  { content, problems, observerOf, ...options }: ScanSourcesOptions,
): Promise<{ summary: ScanSummary; fresh: SiteProblem[] }> {
  const from: ScanOptions = { ...options, source, content: content.of(source), observer: observerOf?.(source) };
  const { summary, problems: found } = await scanSource(from);
  return { summary, fresh: problems.replace(source, found) };
}

const toReason = ({ message }: AppError): string => message.replace(/\.$/, '');

const NOTHING: ScanSummary = {
  files: 0,
  directories: 0,
  images: 0,
  bytes: 0,
  hashed: 0,
  linksLeftOut: 0,
  privateLeftOut: 0,
  late: 0,
  milliseconds: 0,
};

function add(one: ScanSummary, other: ScanSummary): ScanSummary {
  const names = Object.keys(NOTHING) as (keyof ScanSummary)[];
  return Object.fromEntries(names.map((name) => [name, one[name] + other[name]])) as unknown as ScanSummary;
}

export interface ScanOptions {
  readonly source: SiteSource;
  readonly store: RecordStore;
  /** Reads the records in the source's files. */
  readonly content?: SourceContent;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ScanProgress) => void;
  /** Notified of folders and links, for watching them. */
  readonly observer?: WalkObserver;
  /** Whether everything is written in one transaction, for queries that run meanwhile. */
  readonly atomic?: boolean;
  /**
   * Reads large files in the background, so that their digests are missing at first. If absent, the scan reads them.
   */
  readonly late?: LargeFileDigests;
}

/** The progress of a scan. */
export interface ScanProgress {
  /** Files and folders found so far. */
  readonly found: number;
  /** The number of files to read; 0 while folders are still being listed. */
  readonly total: number;
  readonly hashed: number;
  /** Absent while some sizes are unknown: in a large site, files are examined only when they are read. */
  readonly totalBytes?: number;
  /** The number of bytes read so far. */
  readonly bytes: number;
}

export interface ScanSummary {
  readonly files: number;
  readonly directories: number;
  readonly images: number;
  readonly bytes: number;
  /** The number of files whose bytes were read. */
  readonly hashed: number;
  /** The number of links that do not belong to the site: to folders, to places outside the site, and broken ones. */
  readonly linksLeftOut: number;
  /** The number of entries left out because their names are private. */
  readonly privateLeftOut: number;
  /** The number of large files that are not read yet. */
  readonly late: number;
  readonly milliseconds: number;
}

/** The result of a scan. */
interface ScanResult {
  readonly summary: ScanSummary;
  readonly problems: readonly EntryProblem[];
}

/**
 * Scans a source: brings its files, folders, images and the records in its files up to date in the store. It reads only
 * files that changed since the last scan, even if that was interrupted, writes only differing records and removes those
 * of deleted entries. Entries that can't be read are skipped and reported.
 *
 * @throws AppError `unprocessable` when the folder itself can't be read or contains too many entries.
 */
export async function scanSource(options: ScanOptions): Promise<ScanResult> {
  try {
    return await scanOnce(options);
  } catch (error) {
    if (!(error instanceof PositionsExhaustedError)) throw error;
    // The number of records in the file is known now, so the second plan renumbers the source.
    return scanOnce(options);
  }
}

async function scanOnce(options: ScanOptions): Promise<ScanResult> {
  const ahead = new ReadAhead(options.source.root, options.late);
  try {
    return await scanWith(options, ahead);
  } finally {
    await ahead.close();
  }
}

async function scanWith(options: ScanOptions, ahead: ReadAhead): Promise<ScanResult> {
  const startedMs = Date.now();
  const { store, source, content, onProgress, signal, observer, atomic } = options;
  const isFirst = isFirstScan(store, source);
  const problems: EntryProblem[] = [];
  const onProblem = (problem: EntryProblem): void => void problems.push(problem);
  const waiting = new Set<number>();
  const pendingDigests = new Set<number>();
  let writes: readonly PlannedWrite[] = [];
  const onFound = (entries: WalkEntries): void => {
    if (isFirst) ahead.offer(entries);
    onProgress?.({ ...NOTHING_READ, found: entries.length });
  };
  // The first scan opens all files anyway, so most files get their stats then.
  const looking = { signal, onFound, onProblem, observer };
  const found = await walk({ ...source, ...looking, ...(isFirst && { lookedAt: READ_AHEAD_MIN_ENTRIES }) });
  if (isFirst) ahead.offer(found.entries, 'planning');
  // Skipped entries may be readable at the next start although no folder changes.
  const sign = (): Signatures => {
    const signed = signFolders(found, startedMs - TIMESTAMP_GRANULARITY_MS);
    return problems.length + waiting.size === 0 ? signed : { signatures: new Map(), complete: false };
  };
  const signed = isFirst ? undefined : sign();
  const writer = createEntryWriter(source, found);
  let hashed = 0;
  if (signed === undefined || content?.hasUnread || !isUnchanged(store, source, signed)) {
    const memory = { ...readScanMemory(store, source), content };
    let plan = planScan(found, memory);
    if (content?.expect(() => getChangedPaths(found, plan))) plan = planScan(found, memory);
    ({ writes } = plan);
    const changes = collectChanges(options);
    changes.add((rows) => {
      recordScanStart(rows, source, memory, startedMs);
      content?.noteStart(rows);
      for (const known of plan.removals) {
        writer.remove(rows, known);
        content?.remove(rows, known.path);
      }
    });
    changes.pause();
    const rowsAtOnce = isFirst && !atomic ? BULK_LOAD_ROWS : TRANSACTION_ROWS;
    const applying = { found, plan, writer, changes, ahead, rowsAtOnce, onProblem, waiting, pendingDigests };
    const apply = (): Promise<number> => applyWrites(options, applying);
    // A bulk load drops the indexes, which queries that run meanwhile need.
    hashed = await (atomic ? apply() : store.bulkLoad(apply));
    changes.add((rows) => recordScanEnd(rows, source, sign(), startedMs));
    changes.write();
    content?.noteEnd();
  }
  const { linksLeftOut, privateLeftOut } = found;
  // A large image that changed keeps its old record until it is read.
  const unlisted = writes.flatMap(({ index, known }) =>
    waiting.has(index) && !pendingDigests.has(index) && !known ? [index] : [],
  );
  const counts = count(found, new Set([...writer.gone, ...unlisted]));
  const milliseconds = Date.now() - startedMs;
  const summary = { ...counts, hashed, linksLeftOut, privateLeftOut, late: waiting.size, milliseconds };
  return { summary, problems };
}

const NOTHING_READ: ScanProgress = { found: 0, total: 0, hashed: 0, bytes: 0 };

/**
 * The number of rows per transaction. Larger transactions rewrite the pages of indexes less often, smaller ones lose
 * less when the scan is interrupted.
 */
const TRANSACTION_ROWS = 8192;

/** During a bulk load there are no indexes, so smaller transactions cost nothing and leave less to write at the end. */
const BULK_LOAD_ROWS = 2048;

interface Changes {
  add(change: (rows: RecordWriter) => void): void;
  /** Writes the pending changes unless everything is written in one transaction. */
  pause(): void;
  write(): void;
}

function collectChanges({ store, atomic = false }: ScanOptions): Changes {
  const changes: ((rows: RecordWriter) => void)[] = [];
  const write = (): void =>
    store.write((rows) => {
      for (const change of changes.splice(0)) change(rows);
    });
  return { add: (change) => changes.push(change), pause: atomic ? () => undefined : write, write };
}

interface Applying {
  readonly found: WalkResult;
  readonly plan: ScanPlan;
  readonly writer: EntryWriter;
  readonly changes: Changes;
  readonly ahead: ReadAhead;
  /** The number of rows per transaction. */
  readonly rowsAtOnce: number;
  readonly onProblem: (problem: EntryProblem) => void;
  /** Collects the indexes of large files that are not read yet. */
  readonly waiting: Set<number>;
  /** Collects those among them that are listed. */
  readonly pendingDigests: Set<number>;
}

/** Returns the number of files read. */
async function applyWrites(
  { source: { root }, content, signal, onProgress, late }: ScanOptions,
  { found: { entries }, plan, writer, changes, ahead, rowsAtOnce, onProblem, waiting, pendingDigests }: Applying,
): Promise<number> {
  const work = measureWork(entries, plan.writes, late);
  const isSized = !plan.writes.some(({ index }) => entries.isUnread(index));
  const digesters = ahead.digestersFor(work);
  const pending: PlannedWrite[] = [];
  const flush = (): void => {
    const ready = pending.splice(0);
    changes.add((rows) => {
      for (const write of ready) {
        writer.put(rows, write);
        content?.put(rows, entries.path(write.index), write);
      }
    });
    changes.pause();
  };
  let [hashed, bytes] = [0, 0];
  if (late) for (const { index } of plan.writes) waiting.add(index);
  for await (const batch of digestWrites({ entries, root, digesters, ahead, late, onProblem }, plan.writes)) {
    signal?.throwIfAborted();
    for (const { index, digest } of batch.writes) {
      if (findPendingFile(digest) === undefined) waiting.delete(index);
      else pendingDigests.add(index);
    }
    await content?.read(entries, batch.writes);
    pending.push(...batch.writes);
    if (pending.length >= rowsAtOnce) flush();
    hashed += batch.files;
    bytes += batch.bytes;
    onProgress?.({
      found: entries.length,
      total: work.files,
      hashed,
      bytes,
      ...(isSized && { totalBytes: work.bytes }),
    });
  }
  flush();
  return hashed;
}

function count(
  { entries }: WalkResult,
  gone: ReadonlySet<number>,
): Pick<ScanSummary, 'files' | 'directories' | 'images' | 'bytes'> {
  const counts = { files: 0, directories: 0, images: 0, bytes: 0 };
  for (let index = 0; index < entries.length; index += 1) {
    if (gone.has(index)) continue;
    if (isFolder({ mode: entries.mode(index) })) {
      counts.directories += 1;
      continue;
    }
    counts.files += 1;
    counts.images += isImage(entries.path(index)) ? 1 : 0;
    counts.bytes += entries.size(index);
  }
  return counts;
}
