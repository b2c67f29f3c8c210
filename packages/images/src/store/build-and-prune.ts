import { availableParallelism } from 'node:os';
import { AppError } from '@trellis/core/errors';
import type { DerivedImage } from '../plan/links.js';
import type { GenerateFile, ImageFile, ImageFiles } from './files.js';

export interface BuildProgress {
  readonly total: number;
  readonly done: number;
  /** The images of `done` that were generated; the others existed or failed. */
  readonly made: number;
  readonly failed: number;
}

export interface BuildOptions {
  /** Called after every image, whether it existed, was generated or failed. */
  readonly onProgress?: (progress: BuildProgress) => void;
  /** Called for every image that can't be generated. The build continues with the next one. */
  readonly onFailure?: (link: DerivedImage, reason: AppError) => void;
  /** Stops the build. Generated images stay, so another run continues from there. */
  readonly signal?: AbortSignal;
}

/** Enough pending images to keep the rendering pool busy; more would only take memory. */
const MAX_STARTED = Math.max(16, 2 * availableParallelism());

/**
 * Generates the images that do not exist yet. An image that fails with an AppError is counted and reported to
 * `onFailure`.
 *
 * @throws Any other error, such as a full disk, and the reason of the signal. Images in progress are finished first.
 */
export async function buildImages(
  makeFile: GenerateFile,
  links: readonly DerivedImage[],
  { onProgress, onFailure, signal }: BuildOptions = {},
): Promise<BuildProgress> {
  const progress = { total: links.length, done: 0, made: 0, failed: 0 };
  const rest = links.values();

  let unexpected: unknown;

  async function generateRemaining(): Promise<void> {
    for (const link of rest) {
      if (signal?.aborted || unexpected !== undefined) return;
      try {
        if ((await makeFile(link)).isNew) progress.made += 1;
      } catch (error) {
        if (!(error instanceof AppError)) {
          unexpected = error;
          return;
        }
        progress.failed += 1;
        onFailure?.(link, error);
      }
      progress.done += 1;
      onProgress?.({ ...progress });
    }
  }

  // Waits for the images in progress, even after an abort or an unexpected error.
  await Promise.all(Array.from({ length: MAX_STARTED }, generateRemaining));
  signal?.throwIfAborted();
  if (unexpected !== undefined) throw toError(unexpected);
  return progress;
}

const toError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

export interface PruneResult {
  readonly files: number;
  readonly bytes: number;
}

export interface PruneOptions {
  /** The images that the stored queries of the site use. */
  readonly used: Iterable<DerivedImage>;
  /** Called for every image before it is removed. */
  readonly onRemove?: (file: ImageFile) => void;
  /** Reports the unused images without removing them. */
  readonly dryRun?: boolean;
}

/**
 * Removes the derived images that are not in `used`, and abandoned temporary files. Links to removed images stay
 * valid, as published pages may contain them: the next GET generates the file again. Can therefore run beside a server.
 */
export async function pruneImages(files: ImageFiles, { used, onRemove, dryRun }: PruneOptions): Promise<PruneResult> {
  const paths = new Set<string>();
  for (const image of used) paths.add(files.toPath(image));
  const removed = { files: 0, bytes: 0 };
  for await (const file of files.list()) {
    if (paths.has(file.path)) continue;
    onRemove?.(file);
    if (!dryRun) await files.remove(file.path);
    removed.files += 1;
    removed.bytes += file.bytes;
  }
  if (!dryRun) await files.removePartial();
  return removed;
}
