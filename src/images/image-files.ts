import { randomUUID } from 'node:crypto';
import { unlinkSync } from 'node:fs';
import { access, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { DerivedImage } from './links.js';
import type { Quota } from './quota.js';
import { digestOf, formatRecipe } from './recipe.js';

export interface StoredFile {
  readonly path: string;
  readonly bytes: number;
}

/** The derived images, as files: whole, or not there. */
export interface ImageFiles {
  /** Below the folder, with `/`: `<content digest>/<recipe digest>.<format>`. */
  pathOf(image: DerivedImage): string;
  has(path: string): Promise<boolean>;
  /** Has a file written, which gives its size, and makes it appear under its path once there is room in the quota. */
  add(path: string, write: (file: string) => Promise<number>): Promise<void>;
  /** Notes that a file was served. */
  touch(path: string): void;
  list(): AsyncIterable<StoredFile>;
  remove(path: string): Promise<void>;
  /** Removes what processes that were killed left half-written. */
  removePartial(): Promise<void>;
}

/** Where files are while they are written. */
const PARTIAL = '.partial';

/** Nothing takes as long to be written: such a file's process is gone. */
const ABANDONED_MS = 60 * 60 * 1000;

/** Everything that the quota counts is below the public folder, and called by its path from there. */
const IMAGES = 'images';

/** Where the images of a state folder are. */
export const imageFolderOf = (stateDirectory: string): string => path.join(publicFolderOf(stateDirectory), IMAGES);

const publicFolderOf = (stateDirectory: string): string => path.join(stateDirectory, 'public');

export function createImageFiles(stateDirectory: string, quota: Quota): ImageFiles {
  const folder = imageFolderOf(stateDirectory);
  const keyOf = (file: string): string => `${IMAGES}/${file}`;
  return {
    pathOf: ({ contentDigest, recipe }) => `${contentDigest}/${digestOf(formatRecipe(recipe))}.${recipe.format}`,
    has: (file) =>
      access(path.join(folder, file)).then(
        () => true,
        () => false,
      ),
    async add(file, write) {
      const target = path.join(folder, file);
      const temporary = path.join(folder, PARTIAL, randomUUID());
      await Promise.all([path.dirname(target), path.dirname(temporary)].map((one) => mkdir(one, { recursive: true })));
      try {
        await quota.put(keyOf(file), await write(temporary));
        await rename(temporary, target);
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
      for (const name of await namesIn(path.join(folder, PARTIAL))) {
        const file = path.join(folder, PARTIAL, name);
        const stats = await stat(file).catch(() => undefined);
        if (stats && Date.now() - stats.mtimeMs > ABANDONED_MS) await rm(file, { force: true });
      }
    },
  };
}

/** Removes a file that the quota evicts, by its path below the public folder. */
export const evictFrom =
  (stateDirectory: string) =>
  (key: string): void => {
    try {
      unlinkSync(path.join(publicFolderOf(stateDirectory), key));
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  };

/** Records the files of a public folder that the quota does not know, such as those of an earlier release. */
export async function adoptFiles(stateDirectory: string, quota: Quota, signal: AbortSignal): Promise<void> {
  const folder = publicFolderOf(stateDirectory);
  for (const part of await namesIn(folder)) {
    for await (const file of listFiles(path.join(folder, part))) {
      if (signal.aborted) return;
      const key = `${part}/${file.path}`;
      if (!quota.has(key)) await quota.put(key, file.bytes);
    }
  }
}

/** The files of all folders in a folder. */
async function* listFiles(folder: string): AsyncIterable<StoredFile> {
  for (const directory of await namesIn(folder)) {
    if (directory.startsWith('.')) continue;
    for (const name of await namesIn(path.join(folder, directory))) {
      const stats = await stat(path.join(folder, directory, name)).catch(() => undefined);
      if (stats?.isFile()) yield { path: `${directory}/${name}`, bytes: stats.size };
    }
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
}

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';
