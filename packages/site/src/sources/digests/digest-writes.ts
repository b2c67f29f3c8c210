import { type EntryProblem, isFolder, STATS_PER_ENTRY, unreadableEntry, type WalkEntries } from '../entries.js';
import type { PlannedWrite } from '../scan-plan.js';
import type { DigestBatch } from './digest-files.js';
import {
  type Digesters,
  findPendingFile,
  isListedEarly,
  type LargeFileDigests,
  lateBytesOf,
  openDigesters,
  toPendingDigest,
} from './large-file-digests.js';

/** Writes with the digests of their files; a file without one was deleted or can't be read. */
interface DigestedBatch extends Workload {
  readonly writes: readonly PlannedWrite[];
}

export interface Workload {
  readonly files: number;
  readonly bytes: number;
}

/** The size of a batch for a thread, about 10 ms of reading, small enough to react quickly to failures and aborts. */
const BATCH = { writes: 256, bytes: 8 * 1024 * 1024 };

/** The number of pending batches per thread, so that threads stay busy while a transaction is written. */
const PENDING_BATCHES = 32;

/** Measures the files to read for these writes, without large files if `late` reads those. */
export function measureWork(entries: WalkEntries, writes: readonly PlannedWrite[], late?: LargeFileDigests): Workload {
  let files = 0;
  let bytes = 0;
  for (const write of writes) {
    const size = sizeOf(entries, write.index);
    if (!needsDigest(entries, write) || (late && size >= lateBytesOf(entries.path(write.index)))) continue;
    files += 1;
    bytes += size;
  }
  return { files, bytes };
}

function needsDigest(entries: WalkEntries, { index, digest }: PlannedWrite): boolean {
  return digest === undefined && !isFolder({ mode: entries.mode(index) });
}

interface DigestContext {
  readonly entries: WalkEntries;
  readonly root: string;
  readonly digesters: Digesters;
  /** Reads files ahead of time. */
  readonly ahead?: Pick<ReadAhead, 'addDigests'>;
  /** Called for each file that can't be read. */
  readonly onProblem?: (problem: EntryProblem) => void;
  /** Reads large files in the background; if absent, all files are read here. */
  readonly late?: LargeFileDigests;
}

/**
 * Reads the files of the writes that need a digest, and yields the writes in the same order in batches. Large files
 * that are not read yet have a pending digest, or no write if they can't be listed without it.
 */
export async function* digestWrites(
  from: DigestContext,
  writes: readonly PlannedWrite[],
): AsyncGenerator<DigestedBatch> {
  const underWay: Promise<DigestedBatch>[] = [];
  for (const batch of toBatches(from.entries, writes)) {
    const digested = digestBatch(from, batch);
    // A failure is thrown when the batch is awaited; this avoids an unhandled rejection before.
    digested.catch(() => undefined);
    underWay.push(digested);
    const oldest = underWay.length < from.digesters.parallel * PENDING_BATCHES ? undefined : underWay.shift();
    if (oldest) yield await oldest;
  }
  for (const digested of underWay) yield await digested;
}

function* toBatches(entries: WalkEntries, writes: readonly PlannedWrite[]): Generator<PlannedWrite[]> {
  let batch: PlannedWrite[] = [];
  let bytes = 0;
  for (const write of writes) {
    batch.push(write);
    if (needsDigest(entries, write)) bytes += sizeOf(entries, write.index);
    if (batch.length >= BATCH.writes || bytes >= BATCH.bytes) {
      yield batch;
      batch = [];
      bytes = 0;
    }
  }
  if (batch.length > 0) yield batch;
}

async function digestBatch(from: DigestContext, planned: readonly PlannedWrite[]): Promise<DigestedBatch> {
  const { entries, ahead, late } = from;
  const { files } = measureWork(entries, planned, late);
  const known = ahead ? await ahead.addDigests(entries, planned) : planned;
  const writes = await digestRest(from, known);
  return { writes, files, bytes: measureWork(entries, planned, late).bytes };
}

async function digestRest(from: DigestContext, writes: readonly PlannedWrite[]): Promise<readonly PlannedWrite[]> {
  const { entries, onProblem } = from;
  const toRead = writes.filter((write) => needsDigest(entries, write)).map(({ index }) => index);
  if (toRead.length === 0) return writes;
  const { digests, failures, late } = await readDigests(from, toRead);
  for (const { index, code } of failures) onProblem?.(unreadableEntry(entries.path(index), code));
  const waiting = new Set<number>();
  const known = new Set(writes.filter(hasKnownDigest).map(({ index }) => index));
  for (const index of late) {
    const path = entries.path(index);
    const read =
      findLate(from, index) ??
      (isListedEarly(path) && !known.has(index) ? toPendingDigest(`${from.root}/${path}`) : undefined);
    if (read === undefined) waiting.add(index);
    else digests.set(index, read);
  }
  return writes
    .filter(({ index }) => !waiting.has(index))
    .map((write) => (needsDigest(entries, write) ? { ...write, digest: digests.get(write.index) } : write));
}

/** Whether the stored digest is probably still valid, so that it is better than none. */
const hasKnownDigest = ({ inDoubt, known }: PlannedWrite): boolean =>
  inDoubt && known !== undefined && findPendingFile(known.digest) === undefined;

/** Returns the digest of a large file, or `undefined` after scheduling it to be read. */
function findLate({ entries, root, late, onProblem }: DigestContext, index: number): string | undefined {
  const path = entries.path(index);
  const result = late?.take(root, path, entries.stats(index));
  if (result?.code !== undefined) onProblem?.(unreadableEntry(path, result.code));
  return result?.digest;
}

/** Returns 0 for a file of unknown size. */
function sizeOf(entries: WalkEntries, index: number): number {
  return entries.isUnread(index) ? 0 : entries.size(index);
}

/** The results of reading files, by the index of each entry. */
interface Digests {
  readonly digests: Map<number, string>;
  readonly failures: readonly { readonly index: number; readonly code: string }[];
  /** The large files, which were not read. */
  readonly late: readonly number[];
}

/** Reads the files of these entries. Updates the stat numbers of entries that changed or had none. */
async function readDigests(
  { entries, root, digesters, late }: Pick<DigestContext, 'entries' | 'root' | 'digesters' | 'late'>,
  indexes: readonly number[],
): Promise<Digests> {
  const all = {
    digests: new Map<number, string>(),
    failures: [] as Digests['failures'][number][],
    late: [] as number[],
  };
  const at = (place: number): number => indexes[place] ?? 0;
  for (let from = 0; from < indexes.length;) {
    const batch = toDigestBatch(entries, root, indexes.slice(from));
    const result = await digesters.digest({ ...batch, lateBytes: late && batch.paths.map(lateBytesOf) });
    for (const [place, index] of result.changed.entries())
      entries.set(at(from + index), result.numbers, place * STATS_PER_ENTRY);
    for (const [place, digest] of result.digests.entries())
      if (digest !== '') all.digests.set(at(from + place), digest);
    for (const { index, code } of result.failures) all.failures.push({ index: at(from + index), code });
    for (const index of result.late) all.late.push(at(from + index));
    from += result.digests.length;
  }
  return all;
}

function toDigestBatch(entries: WalkEntries, root: string, indexes: readonly number[]): DigestBatch {
  const witnesses = new Float64Array(indexes.length * 4);
  for (const [place, index] of indexes.entries()) entries.writeWitness(index, witnesses, place * 4);
  return { root, paths: indexes.map((index) => entries.path(index)), witnesses };
}

/** With fewer entries, reading ahead is not worth starting threads. */
export const READ_AHEAD_MIN_ENTRIES = 2000;

/** The number of entries per batch for a thread. */
const BATCH_ENTRIES = 256;

/** The number of pending batches per thread, enough to keep it busy until the next offer. */
const AHEAD = { walking: 4, planning: 32 };

/**
 * Reads the files of a first scan as soon as the walk finds them, so that no core is idle. It reads first in the order
 * of the walk, which is nearly that of the writes, and then on demand.
 */
export class ReadAhead {
  readonly #root: string;
  readonly #digests: (string | undefined)[] = [];
  /** The batches of consecutive entries, by number. */
  readonly #batches: (Promise<void> | undefined)[] = [];
  #underWay = 0;
  #digesters: Digesters | undefined;
  #next = 0;

  readonly #late: LargeFileDigests | undefined;

  /** @param late Reads large files, which are then skipped here. */
  constructor(root: string, late?: LargeFileDigests) {
    this.#root = root;
    this.#late = late;
  }

  /** Starts batches for new entries. Call it regularly during the walk and once after it. */
  offer(entries: WalkEntries, when: keyof typeof AHEAD = 'walking'): void {
    if (entries.length < READ_AHEAD_MIN_ENTRIES) return;
    this.#digesters ??= openDigesters({ files: entries.length, bytes: 0 });
    const most = this.#digesters.parallel * AHEAD[when];
    while (this.#underWay < most && (this.#next + 1) * BATCH_ENTRIES <= entries.length) {
      void this.#start(entries, this.#next, this.#digesters);
      this.#next += 1;
    }
  }

  /**
   * Returns the writes with the digests of their files, reading pending ones. Deleted or unreadable files have none.
   */
  async addDigests(entries: WalkEntries, writes: readonly PlannedWrite[]): Promise<readonly PlannedWrite[]> {
    const digesters = this.#digesters;
    if (digesters === undefined || this.#batches.length === 0) return writes;
    const batches = new Set(writes.map(({ index }) => Math.floor(index / BATCH_ENTRIES)));
    await Promise.all([...batches].map((batch) => this.#batches[batch] ?? this.#start(entries, batch, digesters)));
    return writes.map((write) =>
      write.digest === undefined ? { ...write, digest: this.#digests[write.index] } : write,
    );
  }

  /** Returns the digesters for the remaining files: the existing ones or as many threads as the work is worth. */
  digestersFor(work: Workload): Digesters {
    this.#digesters ??= openDigesters(work);
    return this.#digesters;
  }

  async close(): Promise<void> {
    await this.#digesters?.close();
  }

  #start(entries: WalkEntries, batch: number, digesters: Digesters): Promise<void> {
    const files: number[] = [];
    const to = Math.min((batch + 1) * BATCH_ENTRIES, entries.length);
    for (let index = batch * BATCH_ENTRIES; index < to; index += 1) {
      if (!isFolder({ mode: entries.mode(index) })) files.push(index);
    }
    const reading = this.#read(entries, digesters, files);
    this.#batches[batch] = reading;
    return reading;
  }

  async #read(entries: WalkEntries, digesters: Digesters, files: readonly number[]): Promise<void> {
    this.#underWay += 1;
    const from = { entries, root: this.#root, digesters, late: this.#late };
    // A file that fails here is read again later, which reports the failure.
    const result = await readDigests(from, files).catch(() => undefined);
    this.#underWay -= 1;
    result?.digests.forEach((digest, index) => (this.#digests[index] = digest));
  }
}
