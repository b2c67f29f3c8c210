import { randomUUID } from 'node:crypto';
import { access, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { OutputFormat } from './formats.js';
import type { Handout } from './link-store.js';

/** An image that is made. */
export interface ImageFile extends Handout {
  readonly format: OutputFormat;
}

/** The images that were made, as files: whole, or not there. */
export interface ImageFiles {
  /** Below the folder, with `/`: `<content digest>/<recipe digest>.<format>`. */
  pathOf(file: ImageFile): string;
  has(file: ImageFile): Promise<boolean>;
  write(file: ImageFile, bytes: Buffer): Promise<void>;
  /** Everything that was made. */
  list(): AsyncIterable<Handout & { readonly path: string; readonly bytes: number }>;
  remove(path: string): Promise<void>;
  /** Removes what processes that were killed left half-written. */
  removePartial(): Promise<void>;
}

/** Where files are while they are written. */
const PARTIAL = '.partial';

/** Nothing takes as long to be written: such a file's process is gone. */
const ABANDONED_MS = 60 * 60 * 1000;

const FILE = /^([0-9a-f]+)\.[a-z]+$/u;

export function createImageFiles(folder: string): ImageFiles {
  const pathOf: ImageFiles['pathOf'] = ({ contentDigest, recipeDigest, format }) =>
    `${contentDigest}/${recipeDigest}.${format}`;
  return {
    pathOf,
    has: (file) =>
      access(path.join(folder, pathOf(file))).then(
        () => true,
        () => false,
      ),
    async write(file, bytes) {
      const target = path.join(folder, pathOf(file));
      const temporary = path.join(folder, PARTIAL, randomUUID());
      await Promise.all([path.dirname(target), path.dirname(temporary)].map((one) => mkdir(one, { recursive: true })));
      try {
        await writeThrough(temporary, bytes);
        await rename(temporary, target);
      } finally {
        await rm(temporary, { force: true });
      }
    },
    async *list() {
      for (const contentDigest of await namesIn(folder)) {
        if (contentDigest === PARTIAL) continue;
        for (const name of await namesIn(path.join(folder, contentDigest))) {
          const [, recipeDigest] = FILE.exec(name) ?? [];
          if (recipeDigest === undefined) continue;
          const { size } = await stat(path.join(folder, contentDigest, name));
          yield { contentDigest, recipeDigest, path: `${contentDigest}/${name}`, bytes: size };
        }
      }
    },
    async remove(file) {
      await rm(path.join(folder, file), { force: true });
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

/** A name must not reach the disk before the bytes that it stands for. */
async function writeThrough(file: string, bytes: Buffer): Promise<void> {
  const handle = await open(file, 'wx');
  try {
    await handle.writeFile(bytes);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  });
}
