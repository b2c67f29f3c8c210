import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, constants, copyFile, mkdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';

import { AppError } from '../errors.js';
import { inTurn, onceAtATime } from '../in-turn.js';
import type { LinkSigner } from './link-signer.js';
import { isGone } from './sources/unreadable.js';

export interface PublicFile {
  readonly absolutePath: string;
  /** The last part of the path. */
  readonly base: string;
  /** MD5 of the bytes, in hexadecimal. */
  readonly contentDigest: string;
  /** In bytes, and when it was last modified, as indexed. */
  readonly size: number;
  readonly mtimeMs: number;
}

/** The digest and the name in the URL of a file. */
export type PublicName = Pick<PublicFile, 'base' | 'contentDigest'>;

/** Where a file is served from: the URL path of its copy below `static`, or the absolute path of the original. */
export type Published = { readonly copy: string } | { readonly original: string };

export interface PublicFiles {
  /** The path of a file's URL: `<prefix>/static/<contentDigest>/<base>`, percent-encoded. */
  pathOf(file: PublicName): string;
  /** The same with a signature unless the site is public, for responses. */
  linkTo(file: PublicName): string;
  /** The inverse of `pathOf`, for the path below `static`; `undefined` for any other path. */
  parsePath(path: string): PublicName | undefined;
  /**
   * Copies a file of the site to where it is served from, unless it is there;
   * `undefined` when the site has no such file. A file that would take more
   * than an eighth of the quota is not copied.
   *
   * @throws AppError `not_found` when the file has gone, `conflict` when it no
   * longer has the digest.
   */
  publish(name: PublicName): Promise<Published | undefined>;
}

/** Counts the copies, and evicts the least recently used ones. */
export interface CopyQuota {
  readonly maxBytes: number;
  /** Resolves when there is room for a copy of this path below the public folder. */
  put(path: string, bytes: number): Promise<void>;
  /** Notes that a copy was served. */
  touch(path: string): void;
}

/** Each copy holds two descriptors; more at once would not make one disk faster. */
const MAX_COPIES = 8;

/** The part of the quota that one copy may take, so that a film does not evict everything else. */
const COPY_SHARE = 1 / 8;

const DIGEST = /^[0-9a-f]{32}$/;

export interface PublicFilesOptions {
  /** Where the public files are; `static` is made in it. */
  readonly directory: string;
  /** What stands before every path: `''`, or a path such as `/blog`. */
  readonly pathPrefix?: string | undefined;
  readonly quota: CopyQuota;
  /** A file of the site that holds these bytes and has this name. */
  readonly findFile: (contentDigest: string, base: string) => PublicFile | undefined;
  /** Signs links; absent for a public site. */
  readonly signer?: Pick<LinkSigner, 'sign'> | undefined;
}

export function openPublicFiles(options: PublicFilesOptions): PublicFiles {
  const { directory, pathPrefix = '', quota, findFile, signer } = options;
  const copyInTurn = inTurn(MAX_COPIES);
  const once = onceAtATime<Published | undefined>();

  async function publish(name: PublicName): Promise<Published | undefined> {
    const key = `static/${name.contentDigest}/${name.base}`;
    const copy = path.join(directory, key);
    if (await isThere(copy)) {
      quota.touch(key);
      return { copy: urlOf(name) };
    }
    const file = findFile(name.contentDigest, name.base);
    if (file === undefined) return undefined;
    if (file.size > quota.maxBytes * COPY_SHARE) {
      await requireUnchanged(file);
      return { original: file.absolutePath };
    }
    await copyInTurn(() => copyTo(file, copy, () => quota.put(key, file.size)));
    return { copy: urlOf(name) };
  }

  return {
    pathOf: createPublicPaths(pathPrefix),
    linkTo: (name) => `${pathPrefix}/static${signer ? signer.sign(urlOf(name)) : urlOf(name)}`,
    parsePath,
    async publish(name) {
      return isPlain(name) ? once(urlOf(name), () => publish(name)) : undefined;
    },
  };
}

/** Gives the path of a file's URL; all that resolvers need. */
export const createPublicPaths =
  (pathPrefix = ''): PublicFiles['pathOf'] =>
  (name) =>
    `${pathPrefix}/static${urlOf(name)}`;

const urlOf = ({ base, contentDigest }: PublicName): string => `/${contentDigest}/${encodeURIComponent(base)}`;

function parsePath(url: string): PublicName | undefined {
  const [, contentDigest, encoded] = /^\/([0-9a-f]{32})\/([^/]+)$/u.exec(url) ?? [];
  if (contentDigest === undefined || encoded === undefined) return undefined;
  try {
    return { contentDigest, base: decodeURIComponent(encoded) };
  } catch {
    return undefined;
  }
}

/** Both may come from a URL, and decide where a copy lands. */
const isPlain = ({ base, contentDigest }: PublicName): boolean =>
  DIGEST.test(contentDigest) && base !== '' && base !== '.' && base !== '..' && !/[/\0\p{Surrogate}]/u.test(base);

/**
 * A copy and not a link: an edit in place of the site's file would otherwise
 * change what is served, forever cached, under the old digest.
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
    throw isGone(error) ? gone(file, error) : error;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Size and time are compared: reading all bytes of a large file takes longer than sending the part that is asked for. */
async function requireUnchanged(file: PublicFile): Promise<void> {
  const stats = await stat(file.absolutePath).catch((error: unknown) => {
    throw isGone(error) ? gone(file, error) : error;
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

function changed({ base }: PublicName): AppError {
  return new AppError('conflict', `Expected ${JSON.stringify(base)} as it was indexed; it has changed since.`);
}

function gone({ base }: PublicName, cause: unknown): AppError {
  return new AppError('not_found', `Expected ${JSON.stringify(base)} as it was indexed; it has gone since.`, { cause });
}
