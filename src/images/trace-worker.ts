import { parentPort } from 'node:worker_threads';
import { tracePicture } from './trace-picture.js';
import type { TraceTask } from './trace-picture.js';

parentPort?.on('message', (task: TraceTask) => parentPort?.postMessage(tracePicture(task)));
