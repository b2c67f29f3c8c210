import { totalmem } from 'node:os';
import type { Box } from '../boxes.js';
import type { ImageMetadata } from '../metadata.js';
import type { ImageDimensions } from '../pipeline.js';
import type { ImageTransform } from '../transform.js';
import type { ImageSource } from '../source.js';
import type { TraceOptions } from '../trace.js';

/** An image to derive from a source file. */
export interface RenderInput {
  readonly source: ImageSource;
  readonly header: ImageDimensions;
  readonly transform: ImageTransform;
  /** The job fails if the result has more bytes. */
  readonly maxBytes: number;
}

/** The input and the result of each kind of work that a rendering process does. */
export interface JobTypes {
  readonly header: { input: { readonly source: ImageSource }; result: ImageMetadata };
  readonly trim: {
    input: { readonly source: ImageSource; readonly header: ImageMetadata; readonly amount: number };
    result: Box;
  };
  /** Writes the image to `target`, synced to the disk; the result is its number of bytes. */
  readonly file: { input: RenderInput & { readonly target: string }; result: number };
  /** The result is a data URI. */
  readonly preview: { input: RenderInput; result: string };
  /** The result is an SVG document. */
  readonly trace: { input: RenderInput & { readonly options: TraceOptions }; result: string };
}

export type JobKind = keyof JobTypes;

export type Job = { [Kind in JobKind]: { readonly kind: Kind } & JobTypes[Kind]['input'] }[JobKind];

/** The limits of a job. A process that exceeds one of them is killed. */
export interface JobLimits {
  /** CPU time of the job in all threads, which does not depend on the load of the machine. Measured on Linux only. */
  readonly cpuMs: number;
  /** Elapsed time. Limits jobs that wait, such as for a network drive, and all jobs on systems without `/proc`. */
  readonly wallMs: number;
  /** Memory of the process. Measured on Linux only. */
  readonly residentBytes: number;
}

/** An 8K image with rotation and duotone takes 1.2 GB. At least half of the memory is left to other processes. */
const residentBytes = Math.min(2 * 2 ** 30, (process.constrainedMemory() || totalmem()) / 2);

/** Reading a header takes a few milliseconds; a drawing of 8 MB, which is parsed completely, takes about a second. */
const HEADER_LIMITS: JobLimits = { cpuMs: 3_000, wallMs: 60_000, residentBytes };

/** A drawing of 20,000 shapes takes about 2.5 seconds at 12 megapixels. */
const DRAWING_LIMITS: JobLimits = { cpuMs: 10_000, wallMs: 120_000, residentBytes };

/** The largest AVIF that a transform allows takes about 60 seconds. */
const IMAGE_LIMITS: JobLimits = { cpuMs: 120_000, wallMs: 600_000, residentBytes };

export function getJobLimits(job: Job): JobLimits {
  if (job.kind === 'header') return HEADER_LIMITS;
  return job.header.format === 'svg' ? DRAWING_LIMITS : IMAGE_LIMITS;
}

/** Returns whether a job decodes a drawing (SVG), whose cost can't be estimated from its size in bytes. */
export const isDrawing = (job: Job): boolean => job.kind !== 'header' && job.header.format === 'svg';

/** Returns the pixels that a job writes, or reads for a trim; 0 for a header. */
export function countPixels(job: Job): number {
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
export function estimateCost(job: Job): number {
  if (job.kind === 'header') return 1;
  const before = job.header.width * job.header.height;
  const after = countPixels(job);
  const holdsSource = job.kind === 'trim' || job.transform.trim !== undefined;
  const holdsResult = job.kind !== 'trim' && needsTwoRuns(job.transform);
  const uncompressed = Math.max(holdsSource ? before : 0, holdsResult ? after : 0);
  const slots = Math.max(Math.max(before, after) / PIXELS_PER_SLOT, uncompressed / UNCOMPRESSED_PIXELS_PER_SLOT);
  return Math.max(1, Math.ceil(slots));
}

/**
 * Returns whether a transform needs two sharp runs: in a single one, sharp would rotate before it crops, and clip
 * colours before it applies the duotone.
 */
export const needsTwoRuns = ({ rotate, duotone }: ImageTransform): boolean =>
  rotate !== undefined || duotone !== undefined;
