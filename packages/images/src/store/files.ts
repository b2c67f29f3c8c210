import path from 'node:path';
import { singleFlight } from '@trellis/core/concurrency';
import { AppError } from '@trellis/core/errors';
import { LRUCache } from 'lru-cache';
import type { DerivedImage } from '../plan/links.js';
import { formatTransform, toImageDigest } from '../plan/transform.js';
import type { ImageSource } from '../source.js';
import type { LocalFileStore, StoredFile } from './file-store.js';
import { measureImage, type RenderContext } from './metadata.js';

/** A file of a derived image, below the image folder. */
export interface ImageFile {
  readonly path: string;
  readonly bytes: number;
}

/** The files of derived images. */
export interface ImageFiles {
  /** Returns the path below the image folder, with `/`: `<content digest>/<transform digest>.<format>`. */
  toPath(image: DerivedImage): string;
  /** Returns the file; `undefined` if it is missing or damaged. */
  find(path: string): Promise<StoredFile | undefined>;
  /** @param write Writes the file to a temporary path. */
  add(path: string, write: (file: string) => Promise<unknown>): Promise<StoredFile>;
  /** Records that a file was served. */
  touch(path: string): void;
  list(): AsyncIterable<ImageFile>;
  remove(path: string): Promise<void>;
  /** Removes temporary files that killed processes left behind. */
  removePartial(): Promise<void>;
}

/** The folder of derived images in the store. */
const IMAGES = 'images';

/** Returns the folder of derived images in a state folder. */
export const toImageFolder = (stateDirectory: string): string => path.join(stateDirectory, 'public', IMAGES);

export function createImageFiles(store: LocalFileStore): ImageFiles {
  const nameOf = (file: string): string => `${IMAGES}/${file}`;
  return {
    toPath: ({ contentDigest, transform }) =>
      `${contentDigest}/${toImageDigest(formatTransform(transform))}.${transform.format}`,
    find: (file) => store.find(nameOf(file)),
    add: (file, write) => store.put(nameOf(file), write),
    touch: (file) => store.touch(nameOf(file)),
    async *list() {
      for await (const { name, bytes } of store.list(IMAGES)) yield { path: name.slice(IMAGES.length + 1), bytes };
    },
    remove: (file) => store.remove(nameOf(file)),
    removePartial: () => store.removePartial(),
  };
}

/** Returns a file of the site with this content and, if given, this file name. */
export type FindSource = (contentDigest: string, base?: string) => ImageSource | undefined;

interface FileGeneratorDependencies extends RenderContext {
  readonly files: ImageFiles;
  readonly findSource: FindSource;
  /** The size limit of one file. */
  readonly maxBytes: number;
}

/**
 * Returns the file of an image, and generates it if it is missing or damaged. Concurrent calls for the same image share
 * one run.
 *
 * @throws AppError `not_found` for an image whose source is no longer in the site;
 * `unprocessable` for a source that can't be read, or can't be rendered within the limits.
 */
export type GenerateFile = (image: DerivedImage) => Promise<GeneratedFile>;

interface GeneratedFile {
  readonly file: StoredFile;
  /** False if the file existed. */
  readonly isNew: boolean;
}

/** Remembered errors of images that can't be generated, about 300 bytes each. */
const MAX_FAILED = 10_000;

/** How long the error of an image is repeated without a new attempt. */
const FAILED_MS = 10 * 60_000;

export function createFileGenerator(parts: FileGeneratorDependencies): GenerateFile {
  const { files, findSource, maxBytes } = parts;
  const once = singleFlight<GeneratedFile>();
  const failed = new LRUCache<string, AppError>({ max: MAX_FAILED, ttl: FAILED_MS });

  async function generate({ contentDigest, transform }: DerivedImage, file: string): Promise<StoredFile> {
    const source = findSource(contentDigest);
    if (source === undefined) throw sourceRemovedError();
    const header = await measureImage(parts, source, transform);
    return files.add(file, (target) => parts.renderer.run('file', { source, header, transform, maxBytes, target }));
  }

  return (image) => {
    const file = files.toPath(image);
    return once(file, async () => {
      const existing = await files.find(file);
      if (existing) return { file: existing, isNew: false };
      const known = failed.get(file);
      if (known) throw known;
      try {
        return { file: await generate(image, file), isNew: true };
      } catch (error) {
        if (error instanceof AppError && error.code === 'unprocessable') failed.set(file, error);
        throw error;
      }
    });
  };
}

export const sourceRemovedError = (): AppError =>
  new AppError('not_found', 'The source image is no longer in the site.');
