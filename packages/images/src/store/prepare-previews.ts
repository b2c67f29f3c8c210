import { availableParallelism } from 'node:os';
import { AppError } from '@trellis/core/errors';
import type { Renderer } from '../render/renderer.js';
import type { ImageSource } from '../source.js';

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
