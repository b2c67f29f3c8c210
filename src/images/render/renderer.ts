import { availableParallelism } from 'node:os';
import { LRUCache } from 'lru-cache';
import { AppError } from '../../errors.js';
import { inTurn } from '../../in-turn.js';
import { isDrawing, limitsOf, pixelsOf, weightOf } from './jobs.js';
import type { Job, JobKind, JobTypes } from './jobs.js';
import { JobKilled, startProcess } from './killable-process.js';
import type { KillableProcess } from './killable-process.js';

/**
 * Decodes, draws and encodes the site's images in separate processes, so that
 * a file that never ends, takes all memory or crashes its decoder costs one
 * process and not the server.
 */
export interface Renderer {
  /**
   * Runs a job when there is room.
   *
   * @throws AppError `unprocessable` for a file that cannot be read, or that exceeds the limits of time or memory;
   * `not_found` or `conflict` for a file that is not as it was indexed.
   */
  run<Kind extends JobKind>(kind: Kind, input: JobTypes[Kind]['input']): Promise<JobTypes[Kind]['result']>;
  /** Kills all processes; jobs that run are rejected. */
  close(): void;
}

/** More images at a time take more memory than they save time. The second place keeps a drawing from taking all. */
const PLACES = Math.max(2, Math.min(availableParallelism(), 3));

/** Drawings leave one place to other images, however many of them run until they are killed. */
const DRAWING_PLACES = PLACES - 1;

/** Headers have places of their own: a query does not wait for images that are being made. */
const HEADER_PLACES = Math.min(availableParallelism(), 2);

/** A process takes some 200 ms to start, and 70 MB while it is idle. */
const IDLE_MS = 60_000;

export function openRenderer(): Renderer {
  const [headers, images, drawings] = [inTurn(HEADER_PLACES), inTurn(PLACES), inTurn(DRAWING_PLACES)];
  const slow = rememberSlowSources();
  const idle: KillableProcess[] = [];
  const all = new Set<KillableProcess>();
  const stops = new Map<KillableProcess, NodeJS.Timeout>();
  let isClosed = false;

  function acquire(): KillableProcess {
    if (isClosed) throw new AppError('unavailable', 'The server is shutting down.');
    const known = idle.pop() ?? startProcess(PLACES);
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
    // Looked at here and not before: many wait for the same file while the first of them is killed.
    slow.requireUntried(job);
    const process = acquire();
    try {
      return await process.run(job, limitsOf(job));
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
    if (!isDrawing(job)) return images(() => runNow(job), weightOf(job));
    return drawings(() => images(() => runNow(job), Math.min(weightOf(job), DRAWING_PLACES)));
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

/** How long a file whose job was killed is refused at once. */
const SLOW_MS = 10 * 60_000;

/** Some 200 bytes each. */
const MAX_SLOW = 10_000;

/**
 * After a job was killed, jobs of the same file with a quarter of its pixels
 * or more are refused. A smaller size may still succeed, and an address that
 * requests one size after the other is refused altogether after a few of them.
 */
const SLOW_SHARE = 4;

interface SlowSource {
  readonly pixels: number;
  readonly message: string;
}

function rememberSlowSources() {
  const known = new LRUCache<string, SlowSource>({ max: MAX_SLOW, ttl: SLOW_MS });
  return {
    /** @throws AppError `unprocessable` when a similar job was killed lately. */
    requireUntried(job: Job): void {
      const found = known.get(job.source.contentDigest);
      if (found && pixelsOf(job) >= found.pixels) throw new AppError('unprocessable', found.message);
    },
    record(job: Job, cause: JobKilled): AppError {
      const { relativePath, contentDigest } = job.source;
      const message = `${JSON.stringify(relativePath)} cannot be rendered: ${cause.message}.`;
      const pixels = Math.min(Math.floor(pixelsOf(job) / SLOW_SHARE), known.get(contentDigest)?.pixels ?? Infinity);
      known.set(contentDigest, { pixels, message });
      return new AppError('unprocessable', message, { cause });
    },
  };
}
