import { availableParallelism } from 'node:os';
import { LRUCache } from 'lru-cache';
import { AppError } from '../../core/errors.js';
import { limitConcurrency } from '../../core/concurrency.js';
import { isDrawing, getJobLimits, countPixels, estimateCost } from './jobs.js';
import type { Job, JobKind, JobTypes } from './jobs.js';
import { JobKilled, startProcess } from './killable-process.js';
import type { KillableProcess } from './killable-process.js';

/**
 * Decodes, traces and encodes images in separate processes, so that a file that decodes forever, exhausts the memory or
 * crashes its decoder ends one process and not the server.
 */
export interface Renderer {
  /**
   * Runs a job as soon as the pool has room.
   *
   * @throws AppError `unprocessable` for a file that can't be read, or exceeds the limits of time or memory;
   * `not_found` or `conflict` for a file that was deleted or changed after the last scan.
   */
  run<Kind extends JobKind>(kind: Kind, input: JobTypes[Kind]['input']): Promise<JobTypes[Kind]['result']>;
  /** Kills all processes. Running jobs are rejected. */
  close(): void;
}

/** More parallel jobs cost more memory than they save time. With at least two slots, a drawing never takes all. */
const SLOTS = Math.max(2, Math.min(availableParallelism(), 3));

/** Drawings leave one slot to other images, even if all of them run until they are killed. */
const DRAWING_SLOTS = SLOTS - 1;

/** Headers have their own slots, so that queries do not wait for images. */
const HEADER_SLOTS = Math.min(availableParallelism(), 2);

/** The time before an idle process ends. It takes 70 MB, and starting a new one about 200 ms. */
const IDLE_MS = 60_000;

export function openRenderer(): Renderer {
  const [headers, images, drawings] = [
    limitConcurrency(HEADER_SLOTS),
    limitConcurrency(SLOTS),
    limitConcurrency(DRAWING_SLOTS),
  ];
  const slow = rememberSlowSources();
  const idle: KillableProcess[] = [];
  const all = new Set<KillableProcess>();
  const stops = new Map<KillableProcess, NodeJS.Timeout>();
  let isClosed = false;

  function acquire(): KillableProcess {
    if (isClosed) throw new AppError('unavailable', 'The server is shutting down.');
    const known = idle.pop() ?? startProcess(SLOTS);
    all.add(known);
    clearTimeout(stops.get(known));
    if (known.isAlive) return known;
    all.delete(known);
    return acquire();
  }

  function release(process: KillableProcess): void {
    if (!process.isAlive) {
      all.delete(process);
      return;
    }
    idle.push(process);
    stops.set(process, setTimeout(() => stop(process), IDLE_MS).unref());
  }

  function stop(process: KillableProcess): void {
    idle.splice(idle.indexOf(process), 1);
    stops.delete(process);
    all.delete(process);
    process.kill();
  }

  async function runNow(job: Job): Promise<unknown> {
    // Checked after queueing: many jobs may wait for the same file while the first of them is killed.
    slow.assertNotKilled(job);
    const process = acquire();
    try {
      return await process.run(job, getJobLimits(job));
    } catch (error) {
      if (!(error instanceof JobKilled)) throw error;
      if (isClosed) throw new AppError('unavailable', 'The server is shutting down.', { cause: error });
      throw slow.record(job, error);
    } finally {
      release(process);
    }
  }

  function enqueue(job: Job): Promise<unknown> {
    if (job.kind === 'header') return headers(() => runNow(job));
    if (!isDrawing(job)) return images(() => runNow(job), estimateCost(job));
    return drawings(() => images(() => runNow(job), Math.min(estimateCost(job), DRAWING_SLOTS)));
  }

  return {
    run: <Kind extends JobKind>(kind: Kind, input: JobTypes[Kind]['input']) =>
      enqueue({ kind, ...input } as Job) as Promise<JobTypes[Kind]['result']>,
    close() {
      isClosed = true;
      for (const timer of stops.values()) clearTimeout(timer);
      for (const process of all) process.kill();
    },
  };
}

/** How long similar jobs of a file are rejected after one was killed. */
const SLOW_MS = 10 * 60_000;

/** About 200 bytes each. */
const MAX_SLOW = 10_000;

/**
 * After a job was killed, jobs of the same file with at least a quarter of its pixels are rejected. A smaller size may
 * succeed, while a client that requests one size after another is soon rejected altogether.
 */
const SLOW_SHARE = 4;

interface SlowSource {
  readonly pixels: number;
  readonly message: string;
}

function rememberSlowSources() {
  const known = new LRUCache<string, SlowSource>({ max: MAX_SLOW, ttl: SLOW_MS });
  return {
    /** @throws AppError `unprocessable` when a similar job was killed recently. */
    assertNotKilled(job: Job): void {
      const found = known.get(job.source.contentDigest);
      if (found && countPixels(job) >= found.pixels) throw new AppError('unprocessable', found.message);
    },
    record(job: Job, cause: JobKilled): AppError {
      const { relativePath, contentDigest } = job.source;
      const message = `${JSON.stringify(relativePath)} cannot be rendered: ${cause.message}.`;
      const pixels = Math.min(Math.floor(countPixels(job) / SLOW_SHARE), known.get(contentDigest)?.pixels ?? Infinity);
      known.set(contentDigest, { pixels, message });
      return new AppError('unprocessable', message, { cause });
    },
  };
}
