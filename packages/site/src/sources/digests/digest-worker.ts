import { readlinkSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { basename } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { createBatchDigester, type DigestBatch } from './digest-files.js';

/** The increase of the nice value over that of the process, which gives the thread a third of contended CPU time. */
const NICE_INCREASE = 5;

const MAX_NICE = 19;

/**
 * Lowers the priority of this thread. The main thread, which writes records and handles requests, is on the critical
 * path. Only Linux has priorities of threads, by an id that Node.js does not expose; elsewhere, or without permission,
 * the priority stays the same.
 */
function lowerPriority(): void {
  try {
    const thread = Number(basename(readlinkSync('/proc/thread-self')));
    setPriority(thread, Math.min(MAX_NICE, getPriority(thread) + NICE_INCREASE));
  } catch {
    // The priority is only an optimization.
  }
}

lowerPriority();
const digest = createBatchDigester();

parentPort?.on('message', (batch: DigestBatch) => {
  const result = digest(batch);
  parentPort?.postMessage(result, [result.numbers.buffer as ArrayBuffer]);
});
