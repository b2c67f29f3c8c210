import { availableParallelism } from 'node:os';
import { setImmediate } from 'node:timers/promises';

import { createBatchDigester } from './digest-batch.js';
import type { DigestAnswer, DigestBatch } from './digest-batch.js';
import { openThread } from './threads.js';

/** Reads batches of files, each with one descriptor open at a time. */
export interface Digesters {
  /** How many batches are read at the same time. */
  readonly parallel: number;
  digest(batch: DigestBatch): Promise<DigestAnswer>;
  close(): Promise<void>;
}

/** A thread takes some 50 ms to start: as long as reading this many small files, or this many bytes. */
const WORTH_A_THREAD = { files: 1000, bytes: 32 * 1024 * 1024 };

/** More threads than this wait for one disk. */
const MAX_THREADS = 4;

/** Reads in this thread when there is little to read, else in threads: while they wait for the disk, records are written. */
export function openDigesters(work: { files: number; bytes: number }): Digesters {
  if (work.files < WORTH_A_THREAD.files && work.bytes < WORTH_A_THREAD.bytes) return inThisThread();
  return inThreads(Math.min(availableParallelism(), MAX_THREADS));
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

/** Reads in so many threads. */
export function inThreads(count: number): Digesters {
  const threads = Array.from({ length: count }, startThread);
  return {
    parallel: count,
    digest(batch) {
      const [idlest] = threads.sort((one, other) => one.waiting() - other.waiting());
      return idlest ? idlest.digest(batch) : Promise.reject(new Error('Expected a thread to read files in.'));
    },
    async close() {
      await Promise.all(threads.map(({ stop }) => stop()));
    },
  };
}

interface Thread {
  readonly digest: (batch: DigestBatch) => Promise<DigestAnswer>;
  /** Batches handed over and not yet answered. */
  readonly waiting: () => number;
  readonly stop: () => Promise<number>;
}

interface Waiting {
  readonly resolve: (answer: DigestAnswer) => void;
  readonly reject: (reason: unknown) => void;
}

/** Answers come in the order of the batches, so a queue says whose each is. */
function startThread(): Thread {
  const worker = openThread('digest-worker');
  const waiting: Waiting[] = [];
  const fail = (reason: unknown): void => {
    for (const { reject } of waiting.splice(0)) reject(reason);
  };
  worker.on('message', (answer: DigestAnswer) => waiting.shift()?.resolve(answer));
  worker.on('error', fail);
  worker.on('exit', () => fail(new Error('The thread that reads files has ended.')));
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
