import type { AppError } from '../../errors.js';
import type { DigestAnswer, DigestBatch } from './digest-batch.js';
import type { Digesters } from './digesters.js';
import { isFolder, WIDTH } from './entries.js';
import type { Entries } from './entries.js';
import type { PlannedWrite } from './crawl-plan.js';
import type { ReadAhead } from './read-ahead.js';
import { unreadable } from './unreadable.js';

/** Writes with the digests of their files; a file without one has gone. */
export interface DigestedBatch extends Workload {
  readonly writes: readonly PlannedWrite[];
}

export interface Workload {
  readonly files: number;
  readonly bytes: number;
}

/** What is handed to a thread at once: some 10 ms of reading, so that a refusal or an abort is soon noticed. */
const BATCH = { writes: 256, bytes: 8 * 1024 * 1024 };

/** Batches under way for each thread, so that none waits while a transaction is written. */
const AHEAD = 32;

/** What there is to read for these writes. */
export function measureWork(entries: Entries, writes: readonly PlannedWrite[]): Workload {
  let files = 0;
  let bytes = 0;
  for (const write of writes) {
    if (!needsDigest(entries, write)) continue;
    files += 1;
    bytes += sizeOf(entries, write.index);
  }
  return { files, bytes };
}

function needsDigest(entries: Entries, { index, digest }: PlannedWrite): boolean {
  return digest === undefined && !isFolder({ mode: entries.mode(index) });
}

export interface DigestFrom {
  readonly entries: Entries;
  readonly root: string;
  readonly digesters: Digesters;
  /** Reads files before they are asked for. */
  readonly ahead?: Pick<ReadAhead, 'addDigests'> | undefined;
  /** Told of a file that can't be read, so that its write is left out and the others go on. */
  readonly onUnreadable?: ((path: string, error: AppError) => void) | undefined;
}

/**
 * Reads the files of the writes that need it and gives the writes back in the
 * same order, a batch at a time.
 *
 * @throws AppError `unprocessable` naming a file that can't be read, unless `onUnreadable` is told.
 */
export async function* digestWrites(from: DigestFrom, writes: readonly PlannedWrite[]): AsyncGenerator<DigestedBatch> {
  const underWay: Promise<DigestedBatch>[] = [];
  for (const batch of toBatches(from.entries, writes)) {
    const digested = digestBatch(from, batch);
    // Its failure is thrown where its turn comes; until then it is not unhandled.
    digested.catch(() => undefined);
    underWay.push(digested);
    const oldest = underWay.length < from.digesters.parallel * AHEAD ? undefined : underWay.shift();
    if (oldest) yield await oldest;
  }
  for (const digested of underWay) yield await digested;
}

function* toBatches(entries: Entries, writes: readonly PlannedWrite[]): Generator<PlannedWrite[]> {
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

async function digestBatch(from: DigestFrom, planned: readonly PlannedWrite[]): Promise<DigestedBatch> {
  const { entries, ahead } = from;
  if (ahead === undefined) return digestRest(from, planned);
  const { files } = measureWork(entries, planned);
  const writes = await ahead.addDigests(entries, planned);
  const rest = await digestRest(from, writes);
  return { ...rest, files, bytes: measureWork(entries, planned).bytes };
}

async function digestRest(from: DigestFrom, writes: readonly PlannedWrite[]): Promise<DigestedBatch> {
  const { entries, onUnreadable } = from;
  const work = measureWork(entries, writes);
  if (work.files === 0) return { ...work, writes };
  const toRead = writes.filter((write) => needsDigest(entries, write)).map(({ index }) => index);
  const answer = await readDigests(from, toRead);
  if (answer.failure) {
    const { path, code } = answer.failure;
    const error = unreadable(path, code);
    if (onUnreadable === undefined) throw error;
    onUnreadable(path, error);
    return digestRest(
      from,
      writes.filter(({ index }) => entries.path(index) !== path),
    );
  }
  return { ...measureWork(entries, writes), writes: withDigests(writes, toRead, answer) };
}

/** 0 for a file that was not looked at. */
function sizeOf(entries: Entries, index: number): number {
  return entries.isUnread(index) ? 0 : entries.size(index);
}

/** What the reading of files came to: a digest of each up to the first that can't be read. */
export type Digests = Pick<DigestAnswer, 'digests' | 'failure'>;

/** Reads the files of these entries, whose numbers are brought up to date when they changed or were not known. */
export async function readDigests(
  { entries, root, digesters }: Omit<DigestFrom, 'onUnreadable'>,
  indexes: readonly number[],
): Promise<Digests> {
  const { digests, changed, numbers, failure } = await digesters.digest(toDigestBatch(entries, root, indexes));
  for (const [place, index] of changed.entries()) {
    entries.set(indexes[index] ?? 0, numbers, place * WIDTH);
  }
  if (failure || digests.length === indexes.length) return { digests, failure };
  const rest = await readDigests({ entries, root, digesters }, indexes.slice(digests.length));
  return { digests: [...digests, ...rest.digests], failure: rest.failure };
}

function toDigestBatch(entries: Entries, root: string, indexes: readonly number[]): DigestBatch {
  const witnesses = new Float64Array(indexes.length * 4);
  for (const [place, index] of indexes.entries()) entries.writeWitness(index, witnesses, place * 4);
  return { root, paths: indexes.map((index) => entries.path(index)), witnesses };
}

function withDigests(writes: readonly PlannedWrite[], read: readonly number[], { digests }: Digests): PlannedWrite[] {
  let next = 0;
  return writes.map((write) => {
    if (write.index !== read[next]) return write;
    const digest = digests[next] ?? '';
    next += 1;
    return { ...write, digest: digest === '' ? undefined : digest };
  });
}
