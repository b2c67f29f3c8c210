import type { DigestBatch } from './digest-batch.js';
import type { Digesters } from './digesters.js';
import { isFolder, STATS_PER_ENTRY } from './entries.js';
import type { WalkEntries } from './entries.js';
import type { PlannedWrite } from './scan-plan.js';
import type { LargeFileDigests } from './large-file-digests.js';
import { LARGE_FILE_BYTES } from './large-file-digests.js';
import type { ReadAhead } from './read-ahead.js';
import { unreadableEntry } from './unreadable.js';
import type { EntryProblem } from './unreadable.js';

/** Writes with the digests of their files; a file without one was deleted or can't be read. */
export interface DigestedBatch extends Workload {
  readonly writes: readonly PlannedWrite[];
}

export interface Workload {
  readonly files: number;
  readonly bytes: number;
}

/** The size of a batch for a thread, about 10 ms of reading, small enough to react quickly to failures and aborts. */
const BATCH = { writes: 256, bytes: 8 * 1024 * 1024 };

/** The number of pending batches per thread, so that threads stay busy while a transaction is written. */
const AHEAD = 32;

/** Measures the files to read for these writes, without large files if `late` reads those. */
export function measureWork(entries: WalkEntries, writes: readonly PlannedWrite[], late?: LargeFileDigests): Workload {
  let files = 0;
  let bytes = 0;
  for (const write of writes) {
    const size = sizeOf(entries, write.index);
    if (!needsDigest(entries, write) || (late && size >= LARGE_FILE_BYTES)) continue;
    files += 1;
    bytes += size;
  }
  return { files, bytes };
}

function needsDigest(entries: WalkEntries, { index, digest }: PlannedWrite): boolean {
  return digest === undefined && !isFolder({ mode: entries.mode(index) });
}

export interface DigestContext {
  readonly entries: WalkEntries;
  readonly root: string;
  readonly digesters: Digesters;
  /** Reads files ahead of time. */
  readonly ahead?: Pick<ReadAhead, 'addDigests'> | undefined;
  /** Called for each file that can't be read. */
  readonly onProblem?: ((problem: EntryProblem) => void) | undefined;
  /** Reads large files in the background; if absent, all files are read here. */
  readonly late?: LargeFileDigests | undefined;
}

/**
 * Reads the files of the writes that need a digest, and yields the writes in the same order in batches, without those
 * of large files that are not read yet.
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
    const oldest = underWay.length < from.digesters.parallel * AHEAD ? undefined : underWay.shift();
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
  for (const index of late) {
    const read = findLate(from, index);
    if (read === undefined) waiting.add(index);
    else digests.set(index, read);
  }
  return writes
    .filter(({ index }) => !waiting.has(index))
    .map((write) => (needsDigest(entries, write) ? { ...write, digest: digests.get(write.index) } : write));
}

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
export interface Digests {
  readonly digests: Map<number, string>;
  readonly failures: readonly { readonly index: number; readonly code: string }[];
  /** The large files, which were not read. */
  readonly late: readonly number[];
}

/** Reads the files of these entries. Updates the stat numbers of entries that changed or had none. */
export async function readDigests(
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
    const result = await digesters.digest({ ...batch, lateBytes: late && LARGE_FILE_BYTES });
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
