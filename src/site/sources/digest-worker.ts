import { parentPort } from 'node:worker_threads';

import { createBatchDigester } from './digest-batch.js';
import type { DigestBatch } from './digest-batch.js';

const digest = createBatchDigester();

parentPort?.on('message', (batch: DigestBatch) => {
  const answer = digest(batch);
  parentPort?.postMessage(answer, [answer.numbers.buffer as ArrayBuffer]);
});
