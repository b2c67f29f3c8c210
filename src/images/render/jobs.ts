import { totalmem } from 'node:os';
import type { Box } from '../boxes.js';
import type { ImageMetadata } from '../metadata.js';
import type { Measured } from '../pipeline.js';
import type { Recipe } from '../recipe.js';
import type { ImageSource } from '../source.js';
import type { TraceOptions } from '../trace.js';

/** An image to derive from a source file. */
export interface Rendering {
  readonly source: ImageSource;
  readonly header: Measured;
  readonly recipe: Recipe;
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
  readonly file: { input: Rendering & { readonly target: string }; result: number };
  /** The result is a data URI. */
  readonly preview: { input: Rendering; result: string };
  /** The result is an SVG document. */
  readonly trace: { input: Rendering & { readonly options: TraceOptions }; result: string };
}

export type JobKind = keyof JobTypes;

export type Job = { [Kind in JobKind]: { readonly kind: Kind } & JobTypes[Kind]['input'] }[JobKind];

/** When a rendering process is killed. */
export interface JobLimits {
  /** CPU time of the job in all threads, so that a busy machine fails no good image. Measured on Linux only. */
  readonly cpuMs: number;
  /** Elapsed time: for a job that waits, such as for a network drive, and for systems without `/proc`. */
  readonly wallMs: number;
  /** Memory of the process. Measured on Linux only. */
  readonly residentBytes: number;
}

/** A screen of 8K that is turned and toned takes 1.2 GB; half of the memory is left to others. */
const residentBytes = Math.min(2 * 2 ** 30, (process.constrainedMemory() || totalmem()) / 2);

/** A header takes some milliseconds; a drawing of 8 MB, which is parsed as a whole, about a second. */
const HEADER_LIMITS: JobLimits = { cpuMs: 3_000, wallMs: 60_000, residentBytes };

/** A drawing of 20,000 shapes takes about 2.5 seconds at 12 megapixels. */
const DRAWING_LIMITS: JobLimits = { cpuMs: 10_000, wallMs: 120_000, residentBytes };

/** The largest AVIF that a recipe allows takes about 60 seconds. */
const IMAGE_LIMITS: JobLimits = { cpuMs: 120_000, wallMs: 600_000, residentBytes };

export function limitsOf(job: Job): JobLimits {
  if (job.kind === 'header') return HEADER_LIMITS;
  return job.header.format === 'svg' ? DRAWING_LIMITS : IMAGE_LIMITS;
}

/** Whether a job decodes a drawing, whose size in bytes says nothing about the work. */
export const isDrawing = (job: Job): boolean => job.kind !== 'header' && job.header.format === 'svg';

/** The pixels that a job reads or writes; 0 for a header. */
export function pixelsOf(job: Job): number {
  switch (job.kind) {
    case 'header':
      return 0;
    case 'trim':
      return job.header.width * job.header.height;
    default:
      return job.recipe.width * job.recipe.height;
  }
}

/** An image of this many pixels takes one place in the pool; larger ones take more. */
const PIXELS_OF_ONE = 2 ** 25;

/** The same for images that are held in memory uncompressed, several times. */
const WHOLE_PIXELS_OF_ONE = 2 ** 23;

/** The places in the pool that a job takes, by the pixels of its image or of its source. */
export function weightOf(job: Job): number {
  if (job.kind === 'header') return 1;
  const before = job.header.width * job.header.height;
  const after = pixelsOf(job);
  const holdsSource = job.kind === 'trim' || job.recipe.trim !== undefined;
  const holdsResult = job.kind !== 'trim' && isTwoRuns(job.recipe);
  const whole = Math.max(holdsSource ? before : 0, holdsResult ? after : 0);
  return Math.max(1, Math.ceil(Math.max(before, after) / PIXELS_OF_ONE), Math.ceil(whole / WHOLE_PIXELS_OF_ONE));
}

/** Sharp turns before it cuts off, and clips before it tones, so the rest needs a second run. */
export const isTwoRuns = ({ rotate, duotone }: Recipe): boolean => rotate !== undefined || duotone !== undefined;
