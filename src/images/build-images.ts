import { AppError } from '../errors.js';
import type { ImageFiles } from './image-files.js';
import type { Handout, LinkStore } from './link-store.js';
import type { MakeFile } from './make-images.js';

export interface BuildProgress {
  readonly total: number;
  readonly done: number;
  readonly failed: number;
}

export interface BuildOptions {
  /** Told of every image that is made, or failed to be. */
  readonly onProgress?: (progress: BuildProgress) => void;
  /** Told why an image can't be made. The others are. */
  readonly onFailure?: (link: Handout, reason: AppError) => void;
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
  links: readonly Handout[],
  { onProgress, onFailure, signal }: BuildOptions = {},
): Promise<BuildProgress> {
  const progress = { total: links.length, done: 0, failed: 0 };
  const rest = links.values();

  async function makeNext(): Promise<void> {
    for (const link of rest) {
      signal?.throwIfAborted();
      await makeFile(link).catch((error: unknown) => {
        if (!(error instanceof AppError)) throw error;
        progress.failed += 1;
        onFailure?.(link, error);
      });
      progress.done += 1;
      onProgress?.({ ...progress });
    }
  }

  await Promise.all(Array.from({ length: MAX_STARTED }, makeNext));
  return progress;
}

export interface PruneResult {
  readonly files: number;
  readonly bytes: number;
}

export interface PruneOptions {
  /** What the site's queries ask for. */
  readonly asked: Iterable<Handout>;
  /** Whether the site still has a picture. */
  readonly hasPicture: (contentDigest: string) => boolean;
}

/**
 * Removes the images that nothing asks for. Their links stay good, as pages
 * out there may have them: the next GET makes them again. Only those of
 * pictures that have gone are taken back.
 */
export async function pruneImages(
  { files, links }: { readonly files: ImageFiles; readonly links: LinkStore },
  { asked, hasPicture }: PruneOptions,
): Promise<PruneResult> {
  const kept = new Set<string>();
  for (const link of asked) kept.add(keyOf(link));
  const removed = { files: 0, bytes: 0 };
  for await (const file of files.list()) {
    if (kept.has(keyOf(file)) && hasPicture(file.contentDigest)) continue;
    await files.remove(file.path);
    removed.files += 1;
    removed.bytes += file.bytes;
  }
  links.remove([...links.list()].filter(({ contentDigest }) => !hasPicture(contentDigest)));
  await files.removePartial();
  return removed;
}

const keyOf = ({ contentDigest, recipeDigest }: Handout): string => `${contentDigest}/${recipeDigest}`;
