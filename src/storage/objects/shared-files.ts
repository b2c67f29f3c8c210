import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { limitConcurrency } from '@trellis/core/concurrency';
import type { SharedFiles } from '@trellis/core/storage';
import { type ObjectStore, DAMAGED, ObjectStoreError } from './object-store.js';

/** The files of a bucket that servers share. */
export interface SharedFileStore extends SharedFiles {
  /** Waits until the offered files are stored, at most this long, and closes the connections. */
  close(waitMs: number): Promise<void>;
}

interface SharedFilesOptions {
  /** Receives a sentence about a failure at most once a minute, and one when the store responds again. */
  readonly report: (message: string) => void;
  /** How long the store is not used after a failure. */
  readonly pauseMs?: number;
}

/** Generating an image takes about as long, so a longer wait would gain nothing. */
const RESPONSE_MS = 3_000;

/** The limit for the rest of the file. */
const BODY_MS = 20_000;

/** Requests do not wait for a store that has failed, except one at the end of each pause. */
const PAUSE_MS = 10_000;

const REPORT_MS = 60_000;

const MAX_FETCHES = 16;
const MAX_STORES = 4;

/** Files that wait to be stored. While the store fails, the oldest are dropped: another server generates them itself. */
const MAX_WAITING = 10_000;

export function createSharedFiles(store: ObjectStore, options: SharedFilesOptions): SharedFileStore {
  const { report, pauseMs = PAUSE_MS } = options;
  const limitFetches = limitConcurrency(MAX_FETCHES);
  const waiting = new Map<string, string>();
  const closing = new AbortController();
  const workers = new Set<Promise<void>>();
  let [pausedUntil, reportedAt, isReported] = [0, -Infinity, false];

  const isPaused = (): boolean => performance.now() < pausedUntil;

  function noteFailure(error: unknown): void {
    pausedUntil = performance.now() + pauseMs;
    if (closing.signal.aborted || performance.now() - reportedAt < REPORT_MS) return;
    [reportedAt, isReported] = [performance.now(), true];
    const { message } = error as Error;
    report(`Object storage ${store.address} failed: ${message} Files are generated and served from the state folder.`);
  }

  function noteSuccess(): void {
    if (isReported) report(`Object storage ${store.address} is available again.`);
    [isReported, pausedUntil] = [false, 0];
  }

  async function fetch(key: string, target: string): Promise<number | undefined> {
    if (isPaused()) return undefined;
    const deadline = createDeadline(RESPONSE_MS);
    try {
      const found = await store.get(key, { signal: deadline.signal });
      deadline.extend(BODY_MS);
      if (found !== undefined) await pipeline(Readable.from(found.body), createWriteStream(target));
      noteSuccess();
      return found?.bytes;
    } catch (error) {
      await rm(target, { force: true });
      // A copy of the file that is generated next replaces it.
      if (isDamaged(error)) await store.delete(key).catch(noteFailure);
      else noteFailure(deadline.signal.aborted ? new Error('It did not respond in time.') : error);
      return undefined;
    } finally {
      deadline.end();
    }
  }

  async function storeWaiting(): Promise<void> {
    for (let [next] = waiting; next !== undefined && !closing.signal.aborted; [next] = waiting) {
      const [key, file] = next;
      if (isPaused()) {
        await delay(pauseMs, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
        continue;
      }
      waiting.delete(key);
      await store.put(key, { file }, { ifAbsent: true, signal: closing.signal }).then(noteSuccess, (error: unknown) => {
        // The quota has evicted the file.
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
        noteFailure(error);
        waiting.set(key, file);
      });
    }
  }

  return {
    fetch: (key, target) => limitFetches(() => fetch(key, target)),
    offer(key, file) {
      waiting.set(key, file);
      const [oldest] = waiting.keys();
      if (waiting.size > MAX_WAITING && oldest !== undefined) waiting.delete(oldest);
      if (workers.size === MAX_STORES) return;
      const worker = storeWaiting().finally(() => workers.delete(worker));
      workers.add(worker);
    },
    async close(waitMs) {
      const isDone = Promise.all(workers);
      await Promise.race([isDone, delay(isPaused() ? 0 : waitMs, undefined, { ref: false })]);
      closing.abort();
      await isDone;
      await store.close();
    },
  };
}

const isDamaged = (error: unknown): boolean => error instanceof ObjectStoreError && error.code === DAMAGED;

/** Creates a signal that is aborted after a time which can be extended. */
function createDeadline(milliseconds: number) {
  const controller = new AbortController();
  let timer = setTimeout(() => controller.abort(), milliseconds);
  return {
    signal: controller.signal,
    extend(more: number) {
      clearTimeout(timer);
      timer = setTimeout(() => controller.abort(), more);
    },
    end: () => clearTimeout(timer),
  };
}
