import { LRUCache } from 'lru-cache';
import { AppError } from '../errors.js';
import type { ImageFiles } from './image-files.js';
import { onceAtATime } from '../in-turn.js';
import type { DerivedImage } from './links.js';
import type { MetadataStore } from './metadata.js';
import type { Measured } from './pipeline.js';
import type { Recipe } from './recipe.js';
import type { Renderer } from './render/renderer.js';
import type { ImageSource } from './source.js';
import type { TrimStore } from './trims.js';

/** Finds a file of the site that holds these bytes, and is called so, if one does. */
export type FindSource = (contentDigest: string, base?: string) => ImageSource | undefined;

/** What it takes to make an image of a picture. */
export interface Workshop {
  readonly renderer: Renderer;
  readonly metadata: MetadataStore;
  readonly trims: TrimStore;
}

export interface MakeParts extends Workshop {
  readonly files: ImageFiles;
  readonly findSource: FindSource;
  /** The most bytes of one file. */
  readonly maxBytes: number;
}

/**
 * Makes the file of an image, unless it is there; once for all who ask at the same time. Tells whether it was made.
 *
 * @throws AppError `not_found` for an image whose source has gone;
 * `unprocessable` for a source that cannot be read or rendered within the limits.
 */
export type MakeFile = (image: DerivedImage) => Promise<boolean>;

/** Images that could not be made, some 300 bytes each. */
const MAX_FAILED = 10_000;

/** How long the error of an image is repeated without another try. */
const FAILED_MS = 10 * 60_000;

export function createMakeFile(parts: MakeParts): MakeFile {
  const { files, findSource, maxBytes } = parts;
  const once = onceAtATime<boolean>();
  const failed = new LRUCache<string, AppError>({ max: MAX_FAILED, ttl: FAILED_MS });

  async function make({ contentDigest, recipe }: DerivedImage, file: string): Promise<void> {
    const source = findSource(contentDigest);
    if (source === undefined) throw new AppError('not_found', 'Expected a picture of the site; it has gone since.');
    const header = await measure(parts, source, recipe);
    await files.add(file, (target) => parts.renderer.run('file', { source, header, recipe, maxBytes, target }));
  }

  return (image) => {
    const file = files.pathOf(image);
    return once(file, async () => {
      if (await files.has(file)) return false;
      const known = failed.get(file);
      if (known) throw known;
      try {
        await make(image, file);
        return true;
      } catch (error) {
        if (error instanceof AppError && error.code === 'unprocessable') failed.set(file, error);
        throw error;
      }
    });
  };
}

/** Reads the header, and finds the borders if the recipe takes them off. */
export async function measure({ metadata, trims }: Workshop, source: ImageSource, { trim }: Recipe): Promise<Measured> {
  const header = await metadata.read(source);
  return trim === undefined ? header : { ...header, trimmed: await trims.measure(source, header, trim) };
}
