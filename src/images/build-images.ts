import { AppError } from '../errors.js';
import type { DerivedImage } from './links.js';
import type { MakeFile } from './make-images.js';

export interface BuildProgress {
  readonly total: number;
  readonly done: number;
  /** Of those done: the others were there, or failed. */
  readonly made: number;
  readonly failed: number;
}

export interface BuildOptions {
  /** Told of every image that is there now, or failed to be made. */
  readonly onProgress?: (progress: BuildProgress) => void;
  /** Told why an image can't be made. The others are. */
  readonly onFailure?: (link: DerivedImage, reason: AppError) => void;
  /** Ends the making; what is made stays, and another run goes on from there. */
  readonly signal?: AbortSignal;
}

/** As many wait for room in the pool that it never runs empty; more would only take memory. */
const MAX_STARTED = 16;

/**
 * Makes the images of links, but those that are made already.
 *
 * @throws AppError never for a picture that can't be read; whatever else fails ends it.
 */
export async function buildImages(
  makeFile: MakeFile,
  links: readonly DerivedImage[],
  { onProgress, onFailure, signal }: BuildOptions = {},
): Promise<BuildProgress> {
  const progress = { total: links.length, done: 0, made: 0, failed: 0 };
  const rest = links.values();

  let defect: unknown;

  async function makeNext(): Promise<void> {
    for (const link of rest) {
      if (signal?.aborted || defect !== undefined) return;
      try {
        if (await makeFile(link)) progress.made += 1;
      } catch (error) {
        if (!(error instanceof AppError)) {
          defect = error;
          return;
        }
        progress.failed += 1;
        onFailure?.(link, error);
      }
      progress.done += 1;
      onProgress?.({ ...progress });
    }
  }

  // What is under way comes to its end before this does.
  await Promise.all(Array.from({ length: MAX_STARTED }, makeNext));
  signal?.throwIfAborted();
  if (defect !== undefined) throw toError(defect);
  return progress;
}

const toError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));
