import { availableParallelism } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { openThread } from '../threads.js';
import { createBatchDigester, type DigestBatch, type DigestResult } from './digest-files.js';

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
export function openDigesterThreads(count: number): Digesters {
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
