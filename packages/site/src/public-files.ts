import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { constants, copyFile, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { limitConcurrency, singleFlight } from '@trellis/core/concurrency';
import { AppError } from '@trellis/core/errors';
import { isMissingFileError } from './sources/entries.js';

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

/** A file to serve. */
export interface PublishedFile {
  readonly absolutePath: string;
  readonly contentDigest: string;
  /** False for the file of the site itself, which may be edited while it is served. */
  readonly isCopy: boolean;
}

export interface PublicFiles {
  /** Returns the path of a file's URL, `<prefix>/static/<contentDigest>/<base>`, percent-encoded. */
  pathOf(file: PublicFileName): string;
  /** Returns the path for use in responses, with a signature unless the site is public. */
  linkTo(file: PublicFileName): string;
  /** Parses the path of a URL below `static`. Returns `undefined` for any other path. */
  parsePath(path: string): PublicFileName | undefined;
  /**
   * Returns the copy of a file, and makes it if it is missing or damaged. Returns `undefined` if the site has no such
   * file, even if a copy exists. A file that would take more than an eighth of the quota is served from its original
   * place.
   *
   * @throws AppError `not_found` when the file was deleted, `conflict` when its digest changed.
   */
  publish(name: PublicFileName): Promise<PublishedFile | undefined>;
}

/** The store of the copies, which may evict any of them. */
export interface CopyStore {
  /** The size limit of all copies together. */
  readonly maxBytes: number;
  /** Returns a copy; `undefined` if it is missing or damaged. */
  find(name: string): Promise<StoredCopy | undefined>;
  /** Stores the file that `write` creates at a temporary path. */
  put(name: string, write: (temporary: string) => Promise<void>): Promise<StoredCopy>;
  /** Marks a copy as recently used. */
  touch(name: string): void;
}

type StoredCopy = Pick<PublishedFile, 'absolutePath'>;

/** Each copy needs two file descriptors, and more copies at once would not speed up a disk. */
const MAX_COPIES = 8;

/** The share of the quota that one copy may take, so that a video does not evict everything else. */
const COPY_SHARE = 1 / 8;

const DIGEST = /^[0-9a-f]{32}$/;

/** Writes the content with a digest to a path, from a place other than the site's folder. */
export type FetchFile = (contentDigest: string, target: string) => Promise<void>;

export interface PublicFilesOptions {
  /** The prefix of every path: `''`, or a path such as `/blog`. */
  readonly pathPrefix?: string;
  readonly store: CopyStore;
  /** Finds a file of the site with this digest and name. */
  readonly findFile: (contentDigest: string, base: string) => PublicFile | undefined;
  /** Signs links; absent for a public site. */
  readonly signer?: Pick<LinkSigner, 'sign'>;
  /** Reads the content of files; absent to copy the files of the site's folder. */
  readonly fetchFile?: FetchFile;
}

export function openPublicFiles(options: PublicFilesOptions): PublicFiles {
  const { pathPrefix = '', store, findFile, signer, fetchFile } = options;
  const limitCopies = limitConcurrency(MAX_COPIES);
  const once = singleFlight<PublishedFile | undefined>();

  async function publish({ contentDigest, base }: PublicFileName): Promise<PublishedFile | undefined> {
    const file = findFile(contentDigest, base);
    if (file === undefined) return undefined;
    const name = `static/${contentDigest}/${base}`;
    const existing = await store.find(name);
    if (existing) store.touch(name);
    else if (fetchFile && file.size > store.maxBytes) throw tooLarge(file);
    else if (!fetchFile && file.size > store.maxBytes * COPY_SHARE) return publishOriginal(file);
    const write = (temporary: string): Promise<void> =>
      fetchFile ? fetchFile(contentDigest, temporary) : copyTo(temporary, file);
    const copy = existing ?? (await limitCopies(() => store.put(name, write)));
    return { absolutePath: copy.absolutePath, contentDigest, isCopy: true };
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
async function copyTo(target: string, file: PublicFile): Promise<void> {
  await copyFile(file.absolutePath, target, constants.COPYFILE_FICLONE).catch((error: unknown) => {
    throw isMissingFileError(error) ? deleted(file, error) : error;
  });
  if ((await digestOf(target)) !== file.contentDigest) throw changed(file);
}

/** Compares size and time only: digesting a large file takes longer than sending the requested part of it. */
async function publishOriginal(file: PublicFile): Promise<PublishedFile> {
  const stats = await stat(file.absolutePath).catch((error: unknown) => {
    throw isMissingFileError(error) ? deleted(file, error) : error;
  });
  if (stats.size !== file.size || Math.abs(stats.mtimeMs - file.mtimeMs) >= 1) throw changed(file);
  return { absolutePath: file.absolutePath, contentDigest: file.contentDigest, isCopy: false };
}

async function digestOf(file: string): Promise<string> {
  const digest = createHash('md5');
  await pipeline(createReadStream(file), digest);
  return digest.digest('hex');
}

function changed({ base }: PublicFileName): AppError {
  return new AppError('conflict', `${JSON.stringify(base)} changed after the last scan. Retry shortly.`);
}

function tooLarge({ base }: PublicFileName): AppError {
  return new AppError(
    'unprocessable',
    `${JSON.stringify(base)} is larger than the disk space for copies of this server.`,
  );
}

function deleted({ base }: PublicFileName, cause: unknown): AppError {
  return new AppError('not_found', `${JSON.stringify(base)} was deleted after the last scan.`, { cause });
}

/** Links change once a day, at midnight UTC, so that responses and browser caches stay stable in between. */
const WINDOW_MS = 86_400_000;

/** 128 bits, half of the output of HMAC-SHA-256, which is the minimum that RFC 2104 recommends. */
const SIGNATURE_BYTES = 16;

const SIGNATURE = /^(?<seconds>\d{1,12})\.(?<mac>[\w-]{22})$/;

/** Signs links to files of a site that is not public. Anyone with a link can read its file until the link expires. */
export interface LinkSigner {
  /** Appends a signature to a percent-encoded path below `/static`. The link is valid for 24 to 48 hours. */
  sign(path: string): string;
  /** Returns when a signature of a path expires, in milliseconds; `undefined` when it has expired or does not match. */
  findExpiry(path: string, signature: string): number | undefined;
  /** Returns the number of the current day. Links that were signed on the same day are equal. */
  currentWindow(): number;
}

/** @param key At least 32 random bytes that have no other use. */
export function createLinkSigner(key: Uint8Array, now: () => number = Date.now): LinkSigner {
  const currentWindow = (): number => Math.floor(now() / WINDOW_MS);
  const macOf = (path: string, seconds: string): Buffer =>
    createHmac('sha256', key).update(`${seconds} ${path}`).digest().subarray(0, SIGNATURE_BYTES);

  return {
    currentWindow,
    sign(path) {
      const seconds = String(((currentWindow() + 2) * WINDOW_MS) / 1000);
      return `${path}?signature=${seconds}.${macOf(decode(path) ?? path, seconds).toString('base64url')}`;
    },
    findExpiry(path, signature) {
      const { seconds = '', mac = '' } = SIGNATURE.exec(signature)?.groups ?? {};
      const expiresAt = Number(seconds) * 1000;
      const decoded = decode(path);
      if (decoded === undefined || expiresAt <= now()) return undefined;
      const isOurs = timingSafeEqual(macOf(decoded, seconds), Buffer.from(mac, 'base64url'));
      return isOurs ? expiresAt : undefined;
    },
  };
}

/** Proxies may change the percent-encoding of a path. */
function decode(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
