import { randomUUID } from 'node:crypto';
import { unlinkSync } from 'node:fs';
import { access, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { singleFlight } from '@trellis/core/concurrency';
import { AppError } from '@trellis/core/errors';
import type { SharedFiles } from '@trellis/core/shared-files';
import { LRUCache } from 'lru-cache';
import type { DerivedImage } from '../plan/links.js';
import { formatTransform, toImageDigest } from '../plan/transform.js';
import type { ImageSource } from '../source.js';
import type { Quota } from './database.js';
import { measureImage, type RenderContext } from './metadata.js';

export interface StoredFile {
  readonly path: string;
  readonly bytes: number;
}

/** The files of derived images. A file is complete as soon as it appears under its path. */
export interface ImageFiles {
  /** Returns the path below the image folder, with `/`: `<content digest>/<transform digest>.<format>`. */
  toPath(image: DerivedImage): string;
  has(path: string): Promise<boolean>;
  /**
   * Writes a file to a temporary name, then moves it to its path when the quota has room for it.
   *
   * @param write Writes the file and returns its size in bytes. It is not called for a file that another server shares.
   */
  add(path: string, write: (file: string) => Promise<number>): Promise<void>;
  /** Records that a file was served. */
  touch(path: string): void;
  list(): AsyncIterable<StoredFile>;
  remove(path: string): Promise<void>;
  /** Removes temporary files that killed processes left behind. */
  removePartial(): Promise<void>;
}

/** The folder of temporary files. */
const PARTIAL = '.partial';

/** No image takes this long to write, so the process of an older temporary file has ended. */
const ABANDONED_MS = 60 * 60 * 1000;

/** The folder of derived images in the public folder. The quota identifies files by their path below the latter. */
const IMAGES = 'images';

/** Returns the folder of derived images in a state folder. */
export const toImageFolder = (stateDirectory: string): string => path.join(publicFolderOf(stateDirectory), IMAGES);

const publicFolderOf = (stateDirectory: string): string => path.join(stateDirectory, 'public');

/** @param shared Files that other servers have generated, and which they can use. */
export function createImageFiles(stateDirectory: string, quota: Quota, shared?: SharedFiles): ImageFiles {
  const folder = toImageFolder(stateDirectory);
  const keyOf = (file: string): string => `${IMAGES}/${file}`;
  return {
    toPath: ({ contentDigest, transform }) =>
      `${contentDigest}/${toImageDigest(formatTransform(transform))}.${transform.format}`,
    has: (file) =>
      access(path.join(folder, file)).then(
        () => true,
        () => false,
      ),
    async add(file, write) {
      const target = path.join(folder, file);
      const temporary = path.join(folder, PARTIAL, randomUUID());
      await Promise.all(
        [path.dirname(target), path.dirname(temporary)].map((directory) => mkdir(directory, { recursive: true })),
      );
      try {
        const found = await shared?.fetch(keyOf(file), temporary);
        await quota.put(keyOf(file), found ?? (await write(temporary)));
        await rename(temporary, target);
        if (found === undefined) shared?.offer(keyOf(file), target);
      } finally {
        await rm(temporary, { force: true });
      }
    },
    touch: (file) => quota.touch(keyOf(file)),
    list: () => listFiles(folder),
    async remove(file) {
      await rm(path.join(folder, file), { force: true });
      quota.remove(keyOf(file));
    },
    async removePartial() {
      for (const name of await listNames(path.join(folder, PARTIAL))) {
        const file = path.join(folder, PARTIAL, name);
        const stats = await stat(file).catch(() => undefined);
        if (stats && Date.now() - stats.mtimeMs > ABANDONED_MS) await rm(file, { force: true });
      }
    },
  };
}

/** Returns a function that deletes an evicted file, given its path below the public folder. */
export const createFileEvictor =
  (stateDirectory: string) =>
  (key: string): void => {
    try {
      unlinkSync(path.join(publicFolderOf(stateDirectory), key));
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  };

/** Adds the files of the public folder that the quota does not count yet, such as those of an earlier release. */
export async function recordExistingFiles(stateDirectory: string, quota: Quota, signal: AbortSignal): Promise<void> {
  const folder = publicFolderOf(stateDirectory);
  for (const part of await listNames(folder)) {
    for await (const file of listFiles(path.join(folder, part))) {
      if (signal.aborted) return;
      const key = `${part}/${file.path}`;
      if (!quota.has(key)) await quota.put(key, file.bytes);
    }
  }
}

/** Lists the files in the direct subfolders of a folder, except hidden ones. */
async function* listFiles(folder: string): AsyncIterable<StoredFile> {
  for (const directory of await listNames(folder)) {
    if (directory.startsWith('.')) continue;
    for (const name of await listNames(path.join(folder, directory))) {
      const stats = await stat(path.join(folder, directory, name)).catch(() => undefined);
      if (stats?.isFile()) yield { path: `${directory}/${name}`, bytes: stats.size };
    }
  }
}

async function listNames(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
}

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** Returns a file of the site with this content and, if given, this file name. */
export type FindSource = (contentDigest: string, base?: string) => ImageSource | undefined;

interface FileGeneratorDependencies extends RenderContext {
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
