import { LRUCache } from 'lru-cache';
import { AppError } from '../core/errors.js';
import type { ImageFiles } from './image-files.js';
import { singleFlight } from '../core/concurrency.js';
import type { DerivedImage } from './links.js';
import type { MetadataStore } from './metadata.js';
import type { ImageDimensions } from './pipeline.js';
import type { ImageTransform } from './transform.js';
import type { Renderer } from './render/renderer.js';
import type { ImageSource } from './source.js';
import type { TrimStore } from './trims.js';

/** Returns a file of the site with this content and, if given, this file name. */
export type FindSource = (contentDigest: string, base?: string) => ImageSource | undefined;

/** The services that rendering an image needs. */
export interface RenderContext {
  readonly renderer: Renderer;
  readonly metadata: MetadataStore;
  readonly trims: TrimStore;
}

export interface FileGeneratorDependencies extends RenderContext {
  readonly files: ImageFiles;
  readonly findSource: FindSource;
  /** The size limit of one file. */
  readonly maxBytes: number;
}

/**
 * Generates the file of an image unless it exists, and returns whether it did. Concurrent calls for the same image
 * share one run.
 *
 * @throws AppError `not_found` for an image whose source is no longer in the site;
 * `unprocessable` for a source that can't be read, or can't be rendered within the limits.
 */
export type GenerateFile = (image: DerivedImage) => Promise<boolean>;

/** Remembered errors of images that can't be generated, about 300 bytes each. */
const MAX_FAILED = 10_000;

/** How long the error of an image is repeated without a new attempt. */
const FAILED_MS = 10 * 60_000;

export function createFileGenerator(parts: FileGeneratorDependencies): GenerateFile {
  const { files, findSource, maxBytes } = parts;
  const once = singleFlight<boolean>();
  const failed = new LRUCache<string, AppError>({ max: MAX_FAILED, ttl: FAILED_MS });

  async function generate({ contentDigest, transform }: DerivedImage, file: string): Promise<void> {
    const source = findSource(contentDigest);
    if (source === undefined) throw new AppError('not_found', 'The source image is no longer in the site.');
    const header = await measureImage(parts, source, transform);
    await files.add(file, (target) => parts.renderer.run('file', { source, header, transform, maxBytes, target }));
  }

  return (image) => {
    const file = files.toPath(image);
    return once(file, async () => {
      if (await files.has(file)) return false;
      const known = failed.get(file);
      if (known) throw known;
      try {
        await generate(image, file);
        return true;
      } catch (error) {
        if (error instanceof AppError && error.code === 'unprocessable') failed.set(file, error);
        throw error;
      }
    });
  };
}

/** Reads the header, and measures the borders if the transform trims them. */
export async function measureImage(
  { metadata, trims }: RenderContext,
  source: ImageSource,
  { trim }: ImageTransform,
): Promise<ImageDimensions> {
  const header = await metadata.read(source);
  return trim === undefined ? header : { ...header, trimmed: await trims.measure(source, header, trim) };
}
