import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, unlinkSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { singleFlight } from '@trellis/core/concurrency';
import { AppError } from '@trellis/core/errors';
import type { SharedFiles } from '@trellis/core/storage';
import { LRUCache } from 'lru-cache';
import type { DerivedImage } from '../plan/links.js';
import { formatTransform, toImageDigest } from '../plan/transform.js';
import type { ImageSource } from '../source.js';
import type { Quota } from './database.js';
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

/** A complete file of the store. Its content is the one that was put. */
export interface StoredFile {
  readonly absolutePath: string;
  readonly bytes: number;
  /** SHA-256 of the content, in base64url. */
  readonly digest: string;
}

/**
 * The place where derived images and public copies are stored. All of them can be made again, so a store may lose files,
 * but it never returns a damaged one. A name has the form `<folder>/<content digest>/<file name>`.
 */
export interface FileStore {
  /** The size limit of all files together. */
  readonly maxBytes: number;
  /** Returns a file, or `undefined` for a missing or damaged one. */
  find(name: string): Promise<StoredFile | undefined>;
  /**
   * Stores a file. It appears under its name when it is complete and the quota has room for it; an earlier file with
   * this name is replaced.
   *
   * @param write Writes the file to a temporary path.
   */
  put(name: string, write: (temporary: string) => Promise<unknown>): Promise<StoredFile>;
  /** Records that a file was served. */
  touch(name: string): void;
  remove(name: string): Promise<void>;
}

/** The name of a file below the public folder, and its size on the disk. */
interface ListedFile {
  readonly name: string;
  readonly bytes: number;
}

/** The file store of a state folder. */
interface LocalFileStore extends FileStore {
  /** Lists the files of a folder of the store, such as `images`. */
  list(folder: string): AsyncIterable<ListedFile>;
  /** Removes temporary files that killed processes left behind. */
  removePartial(): Promise<void>;
}

/** The folder of temporary files. */
const PARTIAL = '.partial';

/** No file takes this long to write, so the process of an older temporary file has ended. */
const ABANDONED_MS = 60 * 60 * 1000;

/** Checked files, about 300 bytes each. */
const MAX_CHECKED = 20_000;

/** Returns the folder of derived images and public copies in a state folder. */
const publicFolderOf = (stateDirectory: string): string => path.join(stateDirectory, 'public');

/** The length and digest of a checked file. The time changes with every write to the file. */
interface CheckedFile extends StoredFile {
  readonly ctimeMs: number;
}

interface FileStoreOptions {
  /** Called with the name of each damaged file that is found. */
  readonly onDamage?: (name: string) => void;
  /** Images that several servers share. Public copies are not shared, because every server has their originals. */
  readonly shared?: SharedFiles;
}

/** The folder of the files that servers share. */
const SHARED = 'images/';

/**
 * Opens the file store of a state folder. The quota keeps the length and digest of each file. Both are compared when a
 * process first reads a file, and whenever its length or time of change differs from the last comparison.
 */
export function openFileStore(
  stateDirectory: string,
  quota: Quota,
  { onDamage = () => undefined, shared }: FileStoreOptions = {},
): LocalFileStore {
  const folder = publicFolderOf(stateDirectory);
  const checked = new LRUCache<string, CheckedFile>({ max: MAX_CHECKED });
  const once = singleFlight<StoredFile | undefined>();

  async function remove(name: string): Promise<void> {
    await rm(path.join(folder, name), { force: true });
    quota.remove(name);
  }

  /** Compares a file with the recorded length and digest, and removes a damaged one. A file without a record has unknown content. */
  async function check(name: string, absolutePath: string, ctimeMs: number, bytes: number) {
    const recorded = parseRecord(quota.find(name));
    if (recorded === undefined) return undefined;
    const digest = bytes === recorded.bytes ? await digestOf(absolutePath).catch(returnIfUnreadable) : '';
    if (digest !== recorded.digest) {
      if (digest !== undefined) onDamage(name);
      await remove(name);
      return undefined;
    }
    const file = { absolutePath, bytes, digest, ctimeMs };
    checked.set(name, file);
    return file;
  }

  return {
    maxBytes: quota.maxBytes,
    async find(name) {
      const absolutePath = path.join(folder, name);
      const stats = await stat(absolutePath).catch(returnIfMissing);
      if (!stats?.isFile()) return undefined;
      const known = checked.get(name);
      if (known && known.ctimeMs === stats.ctimeMs && known.bytes === stats.size) return known;
      return once(name, () => check(name, absolutePath, stats.ctimeMs, stats.size));
    },
    async put(name, write) {
      const absolutePath = path.join(folder, name);
      const temporary = path.join(folder, PARTIAL, randomUUID());
      for (const directory of [path.dirname(absolutePath), path.dirname(temporary)]) {
        await mkdir(directory, { recursive: true });
      }
      const sharing = name.startsWith(SHARED) ? shared : undefined;
      try {
        const found = await sharing?.fetch(name, temporary);
        if (found === undefined) await write(temporary);
        const { size: bytes } = await stat(temporary);
        const digest = await digestOf(temporary);
        await quota.put(name, bytes, formatRecord({ bytes, digest }));
        await rename(temporary, absolutePath);
        if (found === undefined) sharing?.offer(name, absolutePath);
        return { absolutePath, bytes, digest };
      } finally {
        await rm(temporary, { force: true });
      }
    },
    touch: (name) => quota.touch(name),
    remove,
    list: (part) => listFiles(folder, part),
    async removePartial() {
      for (const name of await listNames(path.join(folder, PARTIAL))) {
        const file = path.join(folder, PARTIAL, name);
        const stats = await stat(file).catch(() => undefined);
        if (stats && Date.now() - stats.mtimeMs > ABANDONED_MS) await rm(file, { force: true });
      }
    },
  };
}

type FileRecord = Pick<StoredFile, 'bytes' | 'digest'>;

/** Formats the length and digest of a file for the quota, which stores one text for each entry. */
const formatRecord = ({ bytes, digest }: FileRecord): string => `${bytes} ${digest}`;

/** The inverse of {@link formatRecord}. Earlier releases stored no text. */
function parseRecord(text: string | undefined): FileRecord | undefined {
  const [bytes, digest] = text?.split(' ') ?? [];
  return digest === undefined ? undefined : { bytes: Number(bytes), digest };
}

async function digestOf(file: string): Promise<string> {
  const digest = createHash('sha256');
  await pipeline(createReadStream(file), digest);
  return digest.digest('base64url');
}

/** Returns a function that deletes an evicted file, given its name in the store. */
export const createFileEvictor =
  (stateDirectory: string) =>
  (name: string): void => {
    try {
      unlinkSync(path.join(publicFolderOf(stateDirectory), name));
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  };

/**
 * Adds the files of the public folder that the quota does not count yet, such as those of a lost database. Their content
 * is unknown, so each is made again before it is served.
 */
export async function recordExistingFiles(stateDirectory: string, quota: Quota, signal: AbortSignal): Promise<void> {
  const folder = publicFolderOf(stateDirectory);
  for (const part of await listNames(folder)) {
    for await (const { name, bytes } of listFiles(folder, part)) {
      if (signal.aborted) return;
      if (!quota.has(name)) await quota.put(name, bytes);
    }
  }
}

/** Lists the files in the direct subfolders of a part of the store, except hidden ones. */
async function* listFiles(folder: string, part: string): AsyncIterable<ListedFile> {
  for (const directory of await listNames(path.join(folder, part))) {
    if (directory.startsWith('.')) continue;
    for (const name of await listNames(path.join(folder, part, directory))) {
      const stats = await stat(path.join(folder, part, directory, name)).catch(() => undefined);
      if (stats?.isFile()) yield { name: `${part}/${directory}/${name}`, bytes: stats.size };
    }
  }
}

/** Returns the names in a folder; none for a file or a missing folder. */
async function listNames(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(String(codeOf(error)));

function returnIfMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

/** A file that the disk cannot read counts as damaged. */
function returnIfUnreadable(error: unknown): '' | undefined {
  if (codeOf(error) === 'EIO') return '';
  if (isMissing(error)) return undefined;
  throw error;
}
