import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, constants, copyFile, mkdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { limitConcurrency, singleFlight } from '@trellis/core/concurrency';
import { AppError } from '@trellis/core/errors';
import type { SharedFiles } from '@trellis/core/shared-files';
import { isMissingFileError } from '../sources/file-errors.js';
import type { LinkSigner } from './link-signer.js';

export interface PublicFile {
  readonly absolutePath: string;
  /** The last segment of the path. */
  readonly base: string;
  /** MD5 of the bytes, in hexadecimal. */
  readonly contentDigest: string;
  /** The size in bytes and the time of modification at the last scan. */
  readonly size: number;
  readonly mtimeMs: number;
}

/** The digest and the file name in a URL. */
export type PublicFileName = Pick<PublicFile, 'base' | 'contentDigest'>;

/** The location of a served file: the URL path of its copy below `static`, or the absolute path of the original. */
export type PublishedFile = { readonly copy: string } | { readonly original: string };

export interface PublicFiles {
  /** Returns the path of a file's URL, `<prefix>/static/<contentDigest>/<base>`, percent-encoded. */
  pathOf(file: PublicFileName): string;
  /** Returns the path for use in responses, with a signature unless the site is public. */
  linkTo(file: PublicFileName): string;
  /** Parses the path of a URL below `static`. Returns `undefined` for any other path. */
  parsePath(path: string): PublicFileName | undefined;
  /**
   * Copies a file of the site to the public folder unless a copy exists. Returns `undefined` if the site has no such
   * file. A file that would take more than an eighth of the quota is served from its original place.
   *
   * @throws AppError `not_found` when the file was deleted, `conflict` when its digest changed.
   */
  publish(name: PublicFileName): Promise<PublishedFile | undefined>;
}

/** Limits the total size of the copies by evicting the least recently used ones. */
export interface CopyQuota {
  readonly maxBytes: number;
  /** Resolves when there is space for a copy at this path below the public folder. */
  put(path: string, bytes: number): Promise<void>;
  /** Marks a copy as recently used. */
  touch(path: string): void;
}

/** Each copy needs two file descriptors, and more copies at once would not speed up a disk. */
const MAX_COPIES = 8;

/** The share of the quota that one copy may take, so that a video does not evict everything else. */
const COPY_SHARE = 1 / 8;

const DIGEST = /^[0-9a-f]{32}$/;

export interface PublicFilesOptions {
  /** The folder of the public files, in which `static` is created. */
  readonly directory: string;
  /** The prefix of every path: `''`, or a path such as `/blog`. */
  readonly pathPrefix?: string;
  readonly quota: CopyQuota;
  /** Finds a file of the site with this digest and name. */
  readonly findFile: (contentDigest: string, base: string) => PublicFile | undefined;
  /** Copies that several servers share. */
  readonly sharedFiles?: SharedFiles;
  /** Signs links; absent for a public site. */
  readonly signer?: Pick<LinkSigner, 'sign'>;
}

export function openPublicFiles(options: PublicFilesOptions): PublicFiles {
  const { directory, pathPrefix = '', quota, findFile, signer, sharedFiles: shared } = options;
  const limitCopies = limitConcurrency(MAX_COPIES);
  const once = singleFlight<PublishedFile | undefined>();

  async function publish(name: PublicFileName): Promise<PublishedFile | undefined> {
    const key = `static/${name.contentDigest}/${name.base}`;
    const copy = path.join(directory, key);
    if (await isThere(copy)) {
      quota.touch(key);
      return { copy: urlOf(name) };
    }
    const file = findFile(name.contentDigest, name.base);
    // Links to a previous version of a file remain valid while a server has stored a copy of it.
    if (file === undefined) return (await fetchShared(key, copy, name)) ? { copy: urlOf(name) } : undefined;
    if (file.size > quota.maxBytes * COPY_SHARE) {
      await assertUnchanged(file);
      return { original: file.absolutePath };
    }
    await limitCopies(() => copyTo(file, copy, () => quota.put(key, file.size)));
    shared?.offer(key, copy);
    return { copy: urlOf(name) };
  }

  /** Fetches a copy of a file that the site no longer has. */
  async function fetchShared(key: string, copy: string, { contentDigest }: PublicFileName): Promise<boolean> {
    if (shared === undefined) return false;
    const temporary = path.join(directory, 'static', `.${randomUUID()}`);
    await mkdir(path.dirname(temporary), { recursive: true });
    try {
      const bytes = await shared.fetch(key, temporary);
      if (bytes === undefined || (await digestOf(temporary)) !== contentDigest) return false;
      await quota.put(key, bytes);
      await mkdir(path.dirname(copy), { recursive: true });
      await rename(temporary, copy);
      return true;
    } finally {
      await rm(temporary, { force: true });
    }
  }

  return {
    pathOf: createPublicPath(pathPrefix),
    linkTo: (name) => `${pathPrefix}/static${signer ? signer.sign(urlOf(name)) : urlOf(name)}`,
    parsePath,
    async publish(name) {
      return isPlain(name) ? once(urlOf(name), () => publish(name)) : undefined;
    },
  };
}

/** Creates the function `pathOf` alone, which is all that resolvers need. */
export const createPublicPath =
  (pathPrefix = ''): PublicFiles['pathOf'] =>
  (name) =>
    `${pathPrefix}/static${urlOf(name)}`;

const urlOf = ({ base, contentDigest }: PublicFileName): string => `/${contentDigest}/${encodeURIComponent(base)}`;

function parsePath(url: string): PublicFileName | undefined {
  const [, contentDigest, encoded] = /^\/([0-9a-f]{32})\/([^/]+)$/u.exec(url) ?? [];
  if (contentDigest === undefined || encoded === undefined) return undefined;
  try {
    return { contentDigest, base: decodeURIComponent(encoded) };
  } catch {
    return undefined;
  }
}

/** Validates both parts, because they may come from a URL and determine the path of the copy. */
const isPlain = ({ base, contentDigest }: PublicFileName): boolean =>
  DIGEST.test(contentDigest) && base !== '' && base !== '.' && base !== '..' && !/[/\0\p{Surrogate}]/u.test(base);

/**
 * Copies instead of linking: with a link, editing the site's file in place would change the content that clients cache
 * forever under the old digest.
 */
async function copyTo(file: PublicFile, target: string, makeRoom: () => Promise<void>): Promise<void> {
  await mkdir(path.dirname(target), { recursive: true });
  const temporary = path.join(path.dirname(path.dirname(target)), `.${randomUUID()}`);
  try {
    await copyFile(file.absolutePath, temporary, constants.COPYFILE_FICLONE);
    if ((await digestOf(temporary)) !== file.contentDigest) throw changed(file);
    await makeRoom();
    await rename(temporary, target);
  } catch (error) {
    throw isMissingFileError(error) ? deleted(file, error) : error;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Compares size and time only: digesting a large file takes longer than sending the requested part of it. */
async function assertUnchanged(file: PublicFile): Promise<void> {
  const stats = await stat(file.absolutePath).catch((error: unknown) => {
    throw isMissingFileError(error) ? deleted(file, error) : error;
  });
  if (stats.size !== file.size || Math.abs(stats.mtimeMs - file.mtimeMs) >= 1) throw changed(file);
}

async function isThere(target: string): Promise<boolean> {
  return access(target).then(
    () => true,
    () => false,
  );
}

async function digestOf(file: string): Promise<string> {
  const digest = createHash('md5');
  await pipeline(createReadStream(file), digest);
  return digest.digest('hex');
}

function changed({ base }: PublicFileName): AppError {
  return new AppError('conflict', `${JSON.stringify(base)} changed after the last scan. Retry shortly.`);
}

function deleted({ base }: PublicFileName, cause: unknown): AppError {
  return new AppError('not_found', `${JSON.stringify(base)} was deleted after the last scan.`, { cause });
}
