import type { ErrorCode } from '@trellis/core/errors';
import type { TraceOptions } from '../plan/arguments.js';
import type { Box } from '../plan/sizes.js';
import type { ImageTransform } from '../plan/transform.js';
import type { ImageDimensions, ImageMetadata, ImageSource } from '../source.js';

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

/** The reply to a job: its result, the AppError that it failed with, or the stack of an unexpected error. */
export type RenderReply =
  | { readonly result: unknown }
  | { readonly refused: { readonly code: ErrorCode; readonly message: string } }
  | { readonly defect: string };
