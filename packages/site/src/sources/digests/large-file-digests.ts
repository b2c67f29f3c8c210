import { availableParallelism } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { type FileFingerprint, isUnchangedFile, readFingerprint } from '../entries.js';
import { openThread } from '../threads.js';
import { createBatchDigester, createProgress, type DigestBatch, type DigestResult } from './digest-files.js';

const MEBIBYTE = 1024 * 1024;

/** Files whose bytes are the data of other records, which need the digest or the text. */
const IS_READ = /\.(?:avif|csv|gif|jpe?g|json|markdown|mdx?|png|svg|tiff?|toml|webp|ya?ml)$/i;

/**
 * Returns the size in bytes from which a file is read after the others. A site with several gigabytes of videos would
 * otherwise be unavailable for minutes. For images and texts the size is one for which MD5 takes 100 ms or more.
 */
export const lateBytesOf = (path: string): number => (IS_READ.test(path) ? 64 : 4) * MEBIBYTE;

/** Whether a large file is listed before it is read. Images are not, because their links need the digest. */
export const isListedEarly = (path: string): boolean => !IS_READ.test(path);

/** Precedes the real path of a large file in its stored digest, until it is read. */
const PENDING = 'pending ';

export const toPendingDigest = (file: string): string => `${PENDING}${file}`;

/** Returns the real path of the file whose digest is pending; `undefined` for any other digest. */
export const findPendingFile = (digest: unknown): string | undefined =>
  typeof digest === 'string' && digest.startsWith(PENDING) ? digest.slice(PENDING.length) : undefined;

/** The result of reading a large file: its digest, or the system's error code if it can't be read. */
export interface LargeFileResult {
  readonly digest?: string;
  readonly code?: string;
}

interface Read extends LargeFileResult {
  /** The state of the file when it was read. */
  readonly witness?: FileFingerprint;
}

/** Waits for the digests of large files. */
export interface DigestWaits {
  /** True when no further file is read. */
  readonly isClosed: boolean;
  /** Has this file read next, and waits until records were written again. */
  wait(file: string): Promise<void>;
  /** Returns how far a file is read; `undefined` if it is not being read, or a different process reads it. */
  progressOf?(file: string): ReadingProgress | undefined;
}

interface ReadingProgress {
  readonly bytes: number;
  readonly size: number;
  readonly elapsedMs: number;
}

/** Files that threads read, each in an order of its own: all of them, or those that queries wait for. */
type Lane = 'all' | 'urgent';

interface Reading {
  /** The absolute path. */
  readonly key: string;
  readonly progress: Float64Array;
  readonly startedAt: number;
}

interface Wanted {
  readonly root: string;
  readonly path: string;
}

/**
 * Reads large files in a worker thread, one after the other, while the site is served without them. A file that a query
 * waits for is read at once, beside a different one, which may take minutes.
 */
export class LargeFileDigests implements DigestWaits {
  readonly #onRead: (root: string, path: string) => void;
  readonly #results = new Map<string, Read>();
  readonly #wanted = new Map<string, Wanted>();
  /** Functions that end the waits for stored digests, by absolute path. */
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #digesters = new Map<Lane, Digesters>();
  /** The files that are being read. */
  readonly #reading = new Map<Lane, Reading>();
  /** False until {@link start}, because the first scan, which the site waits for, has priority. */
  #isStarted = false;
  #isClosed = false;

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** @param onRead Called when a result is available from {@link take}. */
  constructor(onRead: (root: string, path: string) => void) {
    this.#onRead = onRead;
  }

  /** Returns and removes the result for a file if it is still valid; otherwise schedules the file to be read. */
  take(root: string, path: string, now: FileFingerprint): LargeFileResult | undefined {
    const key = `${root}/${path}`;
    const read = this.#results.get(key);
    this.#results.delete(key);
    if (read && (read.witness === undefined || isUnchangedFile(now, read.witness))) return read;
    this.#wanted.set(key, { root, path });
    this.#readAll();
    return undefined;
  }

  wait(file: string): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.set(file, [...(this.#waiting.get(file) ?? []), resolve]);
      if (this.#isClosed) this.settle();
      this.#readAll();
    });
  }

  /** Ends all waits, after records were written. */
  settle(): void {
    const waiting = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    for (const resolve of waiting) resolve();
  }

  start(): void {
    this.#isStarted = true;
    this.#readAll();
  }

  progressOf(file: string): ReadingProgress | undefined {
    const reading = [...this.#reading.values()].find(({ key }) => key === file);
    const [bytes = 0, size = 0] = reading?.progress ?? [];
    return reading && { bytes, size, elapsedMs: performance.now() - reading.startedAt };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.settle();
    await Promise.all([...this.#digesters.values()].map((digesters) => digesters.close()));
  }

  #readAll(): void {
    void this.#readLane('all');
    void this.#readLane('urgent');
  }

  async #readLane(lane: Lane): Promise<void> {
    if (!this.#isStarted || this.#isClosed || this.#reading.has(lane)) return;
    for (let next = this.#next(lane); next; next = this.#next(lane)) {
      const [key, { root, path }] = next;
      const progress = createProgress();
      this.#reading.set(lane, { key, progress, startedAt: performance.now() });
      const read = await this.#read(lane, { root, path }, progress).catch((error: unknown) => ({
        code: String(error),
      }));
      if (this.isClosed) return;
      this.#reading.delete(lane);
      this.#wanted.delete(key);
      if (read) this.#results.set(key, read);
      this.#onRead(root, path);
    }
    const digesters = this.#digesters.get(lane);
    this.#digesters.delete(lane);
    await digesters?.close();
  }

  /** Returns the next file to read: one whose digest a query waits for, or else the first one. */
  #next(lane: Lane): readonly [string, Wanted] | undefined {
    const reading = new Set([...this.#reading.values()].map(({ key }) => key));
    for (const key of this.#waiting.keys()) {
      const wanted = this.#wanted.get(key);
      if (wanted && !reading.has(key)) return [key, wanted];
    }
    if (lane === 'urgent') return undefined;
    for (const entry of this.#wanted) if (!reading.has(entry[0])) return entry;
    return undefined;
  }

  /** Returns `undefined` for a file that was deleted or replaced by a different type of entry. */
  async #read(lane: Lane, { root, path }: Wanted, progress: Float64Array): Promise<Read | undefined> {
    const digesters = this.#digesters.get(lane) ?? openDigesterThreads(1);
    this.#digesters.set(lane, digesters);
    const batch = { root, paths: [path], witnesses: new Float64Array(4).fill(NaN), progress };
    const { digests, failures, numbers } = await digesters.digest(batch);
    const [failure] = failures;
    if (failure) return { code: failure.code };
    const [digest] = digests;
    return digest ? { digest, witness: readFingerprint(numbers) } : undefined;
  }
}

/** Reads batches of files, each with one descriptor open at a time. */
export interface Digesters {
  /** The number of batches that are read at the same time. */
  readonly parallel: number;
  digest(batch: DigestBatch): Promise<DigestResult>;
  close(): Promise<void>;
}

/** A thread takes about 50 ms to start, as long as reading this many small files or this many bytes. */
const WORTH_A_THREAD = { files: 1000, bytes: 32 * 1024 * 1024 };

/** More threads would only wait for the disk. */
const MAX_THREADS = 4;

/**
 * Opens digesters in worker threads, so that reading and writing overlap, or in this thread if there is little to read.
 */
export function openDigesters(work: { files: number; bytes: number }): Digesters {
  if (work.files < WORTH_A_THREAD.files && work.bytes < WORTH_A_THREAD.bytes) return inThisThread();
  return openDigesterThreads(Math.min(availableParallelism(), MAX_THREADS));
}

function inThisThread(): Digesters {
  const digest = createBatchDigester();
  return {
    parallel: 1,
    async digest(batch) {
      await setImmediate();
      return digest(batch);
    },
    close: async () => undefined,
  };
}

/** Opens digesters in this number of worker threads. */
function openDigesterThreads(count: number): Digesters {
  const threads = Array.from({ length: count }, startThread);
  return {
    parallel: count,
    digest(batch) {
      const [idlest] = threads.sort((one, other) => one.waiting() - other.waiting());
      return idlest ? idlest.digest(batch) : Promise.reject(new Error('There is no thread to read files.'));
    },
    async close() {
      await Promise.all(threads.map(({ stop }) => stop()));
    },
  };
}

interface Thread {
  readonly digest: (batch: DigestBatch) => Promise<DigestResult>;
  /** Returns the number of pending batches. */
  readonly waiting: () => number;
  readonly stop: () => Promise<number>;
}

interface Waiting {
  readonly resolve: (result: DigestResult) => void;
  readonly reject: (reason: unknown) => void;
}

/** A thread returns results in the order of the batches, so a queue matches them. */
function startThread(): Thread {
  const worker = openThread('digests/digest-worker');
  const waiting: Waiting[] = [];
  const fail = (reason: unknown): void => {
    for (const { reject } of waiting.splice(0)) reject(reason);
  };
  worker.on('message', (result: DigestResult) => waiting.shift()?.resolve(result));
  worker.on('error', fail);
  worker.on('exit', () => fail(new Error('The thread that reads files ended.')));
  return {
    stop: () => worker.terminate(),
    waiting: () => waiting.length,
    digest: (batch) =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        worker.postMessage(batch, [batch.witnesses.buffer as ArrayBuffer]);
      }),
  };
}
