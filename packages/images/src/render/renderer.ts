import { availableParallelism, totalmem } from 'node:os';
import { type CallCounts, limitConcurrency } from '@trellis/core/concurrency';
import { AppError } from '@trellis/core/errors';
import { LRUCache } from 'lru-cache';
import { needsTwoRuns } from '../plan/transform.js';
import type { ImageSource } from '../source.js';
import {
  type Job,
  JobKilled,
  type JobKind,
  type JobLimits,
  type JobTypes,
  type KillableProcess,
  startProcess,
} from './killable-process.js';

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
  /** Returns how many jobs run, and how many wait. */
  count(): CallCounts;
  /** Kills all processes. Running jobs are rejected. */
  close(): void;
}

/** Returns a source with a path that this machine can read, such as that of a copy. */
export type OpenSource = (source: ImageSource) => Promise<ImageSource>;

/** Returns a renderer that opens the source of each job before. */
export function withOpenSources(renderer: Renderer, openSource: OpenSource | undefined): Renderer {
  if (openSource === undefined) return renderer;
  return {
    ...renderer,
    run: async (kind, input) => renderer.run(kind, { ...input, source: await openSource(input.source) }),
  };
}

export interface RendererOptions {
  /** The number of cores that jobs may use; by default all that the process may use. */
  readonly parallelism?: number;
  /** The largest number of pixels of a source image, over all frames; by default 2^27. */
  readonly maxPixels?: number;
  /** Whether other processes get the cores first. */
  readonly isBackground?: boolean;
  /** The CPU time after which the process of a drawing is killed. */
  readonly drawingCpuMs?: number;
}

/** Most jobs take less. Large images take several slots. */
const BYTES_PER_SLOT = 512 * 2 ** 20;

const memoryBytes = process.constrainedMemory() || totalmem();

/**
 * Returns how many jobs may run at a time: one per core, as far as half of the memory allows. With at least two slots, a
 * drawing never takes all.
 */
export const countSlots = (parallelism: number, memory = memoryBytes): number =>
  Math.max(2, Math.min(parallelism, Math.floor(memory / 2 / BYTES_PER_SLOT)));

/** The time before an idle process ends. It takes 70 MB, and starting a new one about 200 ms. */
const IDLE_MS = 60_000;

export function openRenderer(options: RendererOptions = {}): Renderer {
  const { parallelism = availableParallelism(), drawingCpuMs = DRAWING_CPU_MS, maxPixels, isBackground } = options;
  const slots = countSlots(parallelism);
  // Drawings leave one slot to other images, even if all of them run until they are killed.
  const drawingSlots = slots - 1;
  const threads = Math.max(1, Math.floor(parallelism / slots));
  // Headers have their own slots, so that queries do not wait for images.
  const headers = limitConcurrency(Math.min(parallelism, slots));
  const images = limitConcurrency(slots);
  const drawings = limitConcurrency(drawingSlots);
  const slow = rememberSlowSources();
  const idle: KillableProcess[] = [];
  const all = new Set<KillableProcess>();
  const stops = new Map<KillableProcess, NodeJS.Timeout>();
  let isClosed = false;

  function acquire(): KillableProcess {
    if (isClosed) throw new AppError('unavailable', 'The server is shutting down.');
    const known = idle.pop() ?? startProcess({ threads, maxPixels, isBackground });
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

  /** Runs a job again, once, if its process ended for a different reason than a limit, such as memory that ran out. */
  async function runNow(job: Job, isRepeated = false): Promise<unknown> {
    // Checked after queueing: many jobs may wait for the same file while the first of them is killed.
    slow.assertNotKilled(job);
    const process = acquire();
    try {
      return await process.run(job, getJobLimits(job, drawingCpuMs));
    } catch (error) {
      if (!(error instanceof JobKilled)) throw error;
      if (isClosed) throw new AppError('unavailable', 'The server is shutting down.', { cause: error });
      if (!error.exceededLimit && !isRepeated) return await runNow(job, true);
      throw slow.record(job, error);
    } finally {
      release(process);
    }
  }

  /** A waiting drawing is counted by the limit that it waits for. */
  function count(): CallCounts {
    const [ofHeaders, ofImages, ofDrawings] = [headers.count(), images.count(), drawings.count()];
    return {
      running: ofHeaders.running + ofImages.running,
      waiting: ofHeaders.waiting + ofImages.waiting + ofDrawings.waiting,
    };
  }

  function enqueue(job: Job): Promise<unknown> {
    if (job.kind === 'header') return headers(() => runNow(job));
    if (!isDrawing(job)) return images(() => runNow(job), estimateCost(job));
    return drawings(() => images(() => runNow(job), Math.min(estimateCost(job), drawingSlots)));
  }

  return {
    run: <Kind extends JobKind>(kind: Kind, input: JobTypes[Kind]['input']) =>
      enqueue({ kind, ...input } as Job) as Promise<JobTypes[Kind]['result']>,
    count,
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

/** An 8K image with rotation and duotone takes 1.2 GB. At least half of the memory is left to other processes. */
const residentBytes = Math.min(2 * 2 ** 30, memoryBytes / 2);

/** Reading a header takes a few milliseconds; a drawing of 8 MB, which is parsed completely, takes about a second. */
const HEADER_LIMITS: JobLimits = { cpuMs: 3_000, wallMs: 60_000, residentBytes };

/** A drawing of 20,000 shapes takes about 2.5 seconds at 12 megapixels. */
export const DRAWING_CPU_MS = 10_000;

const DRAWING_WALL_MS = 120_000;

/** The largest AVIF that a transform allows takes about 60 seconds. */
const IMAGE_LIMITS: JobLimits = { cpuMs: 120_000, wallMs: 600_000, residentBytes };

function getJobLimits(job: Job, drawingCpuMs: number): JobLimits {
  if (job.kind === 'header') return HEADER_LIMITS;
  if (!isDrawing(job)) return IMAGE_LIMITS;
  return { cpuMs: drawingCpuMs, wallMs: DRAWING_WALL_MS, residentBytes };
}

/** Returns whether a job decodes a drawing (SVG), whose cost can't be estimated from its size in bytes. */
const isDrawing = (job: Job): boolean => job.kind !== 'header' && job.header.format === 'svg';

/** Returns the pixels that a job writes, or reads for a trim; 0 for a header. */
function countPixels(job: Job): number {
  switch (job.kind) {
    case 'header':
      return 0;
    case 'trim':
      return job.header.width * job.header.height;
    default:
      return job.transform.width * job.transform.height;
  }
}

/** A job takes one slot of the pool per this many pixels. */
const PIXELS_PER_SLOT = 2 ** 25;

/** The same for images of which several uncompressed copies are held in memory. */
const UNCOMPRESSED_PIXELS_PER_SLOT = 2 ** 23;

/** Returns the number of pool slots that a job takes, estimated from the pixels of its source and its result. */
function estimateCost(job: Job): number {
  if (job.kind === 'header') return 1;
  const frames = job.kind === 'file' && job.transform.animated ? job.header.pages : 1;
  const before = job.header.width * job.header.height * frames;
  const after = countPixels(job) * frames;
  const holdsSource = job.kind === 'trim' || job.transform.trim !== undefined;
  const holdsResult = job.kind !== 'trim' && needsTwoRuns(job.transform);
  const uncompressed = Math.max(holdsSource ? before : 0, holdsResult ? after : 0);
  const slots = Math.max(Math.max(before, after) / PIXELS_PER_SLOT, uncompressed / UNCOMPRESSED_PIXELS_PER_SLOT);
  return Math.max(1, Math.ceil(slots));
}
