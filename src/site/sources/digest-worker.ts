import { readlinkSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { basename } from 'node:path';
import { parentPort } from 'node:worker_threads';

import { createBatchDigester } from './digest-batch.js';
import type { DigestBatch } from './digest-batch.js';

/** How much nicer than its process such a thread is: it gets a third of the time that both want. */
const NICER = 5;

const LEAST_PRIORITY = 19;

/**
 * Lets the thread that writes records and answers requests go first: it has the
 * longer way, and alone at the end of it the other cores would have nothing to
 * do. Only Linux knows priorities of threads, by a number that Node does not
 * tell; elsewhere, and where it is forbidden, all are equal.
 */
function giveWay(): void {
  try {
    const thread = Number(basename(readlinkSync('/proc/thread-self')));
    setPriority(thread, Math.min(LEAST_PRIORITY, getPriority(thread) + NICER));
  } catch {
    // All are equal.
  }
}

giveWay();
const digest = createBatchDigester();

parentPort?.on('message', (batch: DigestBatch) => {
  const answer = digest(batch);
  parentPort?.postMessage(answer, [answer.numbers.buffer as ArrayBuffer]);
});
