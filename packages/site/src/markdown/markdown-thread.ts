import type { Worker } from 'node:worker_threads';
import { AppError } from '@trellis/core/errors';
import { openThread } from '../sources/threads.js';
import type { MarkdownReply, MarkdownRequest } from './rendering.js';

/** Renders texts in a thread. */
export interface MarkdownThread {
  /**
   * Renders one text at a time; call it again when the result is there.
   *
   * @throws AppError `unprocessable` for a text that can't be rendered within the limits.
   */
  ask(request: MarkdownRequest): Promise<MarkdownReply>;
  close(): Promise<void>;
}

/** A text of the maximum size takes about two seconds; a busy machine gets ten. */
export const DEADLINE_MS = 10_000;

/** A thread usually starts within 300 ms; a busy machine gets more time. */
const START_MS = 60_000;

/** About 10 times the memory that a text of the maximum size needs. */
const MEMORY_MB = 512;

/** Starts the thread with the first text, as loading its modules takes longer than rendering a text. */
export function openMarkdownThread(deadlineMs: number): MarkdownThread {
  let worker: Worker | undefined;

  async function close(): Promise<void> {
    const ended = worker;
    worker = undefined;
    await ended?.terminate();
  }

  return {
    close,
    async ask(request) {
      try {
        worker ??= await startWorker();
        return await exchange(worker, deadlineMs, request);
      } catch (error) {
        await close();
        throw error;
      }
    },
  };
}

async function startWorker(): Promise<Worker> {
  const worker = openThread('../markdown/markdown-worker', {
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  await exchange(worker, START_MS);
  // An open site must not keep the process alive.
  worker.unref();
  return worker;
}

/** Sends a request, if there is one, and returns the next reply. */
function exchange(worker: Worker, deadlineMs: number, request?: MarkdownRequest): Promise<MarkdownReply> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string, cause?: unknown): void =>
      end(() => reject(new AppError('unprocessable', `The text can't be rendered: ${reason}.`, { cause })));
    const timer = setTimeout(() => fail(`it takes more than ${deadlineMs / 1000} seconds`), deadlineMs);
    const onMessage = (reply: MarkdownReply): void => end(() => resolve(reply));
    const onError = (error: Error): void => fail('its thread has failed', error);
    const onExit = (): void => fail('its thread has ended');
    function end(settle: () => void): void {
      clearTimeout(timer);
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      settle();
    }
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    if (request) worker.postMessage(request);
  });
}
