import { availableParallelism } from 'node:os';
import { AppError } from '@trellis/core/errors';
import type { DerivedImage } from '../plan/links.js';
import type { Renderer } from '../render/renderer.js';
import type { ImageSource } from '../source.js';
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

/**
 * The fields whose `base64` is rendered ahead of queries, without arguments. A preview depends on the proportions of the
 * image, so nearly all sizes and qualities have the same one.
 */
const FIELDS = ['fluid', 'fixed'] as const;

export interface PreparePreviewsOptions {
  readonly signal: AbortSignal;
  /** Called for each image, with the number of previews that were rendered for it; 0 if they are stored. */
  readonly onImage: (rendered: number) => void;
}

interface PreparationParts {
  /** Renders a preview unless it is stored. Returns whether it was rendered. */
  readonly render: (field: (typeof FIELDS)[number], source: ImageSource) => Promise<boolean>;
  /** Resolves when no request needs the image processes. */
  readonly untilIdle: () => Promise<void>;
  /** Whether more previews would evict stored values. */
  readonly isFull: () => boolean;
}

/** Leaves half of the cores to requests, whose image processes also have the higher priority. */
const parallelism = Math.max(1, Math.floor(availableParallelism() / 2));

/**
 * Renders previews one after the other while no request needs the image processes. Images that can't be rendered are
 * skipped; the query that selects them reports the reason.
 */
export async function preparePreviews(
  { render, untilIdle, isFull }: PreparationParts,
  sources: Iterable<ImageSource>,
  { signal, onImage }: PreparePreviewsOptions,
): Promise<void> {
  const rest = sources[Symbol.iterator]();
  async function prepareNext(source: ImageSource): Promise<void> {
    let rendered = 0;
    for (const field of FIELDS) {
      await untilIdle();
      if (signal.aborted || isFull()) return;
      rendered += Number(await render(field, source).catch(rethrowUnexpected));
    }
    onImage(rendered);
  }
  async function prepareRest(): Promise<void> {
    for (let next = rest.next(); !next.done && !signal.aborted; next = rest.next()) await prepareNext(next.value);
  }
  await Promise.all(Array.from({ length: parallelism }, prepareRest));
}

function rethrowUnexpected(error: unknown): false {
  if (!(error instanceof AppError)) throw error;
  return false;
}

/** Returns a renderer that reports when it has no jobs. */
export function watchIdle(renderer: Renderer): Renderer & { readonly untilIdle: () => Promise<void> } {
  let running = 0;
  let waiting: (() => void)[] = [];
  return {
    ...renderer,
    async run(kind, input) {
      running += 1;
      try {
        return await renderer.run(kind, input);
      } finally {
        running -= 1;
        if (running === 0) for (const resolve of waiting.splice(0)) resolve();
      }
    },
    untilIdle: () => (running === 0 ? Promise.resolve() : new Promise((resolve) => (waiting = [...waiting, resolve]))),
  };
}
