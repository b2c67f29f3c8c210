import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, constants, copyFile, mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';

import { AppError } from '../errors.js';
import { inTurn, onceAtATime } from '../in-turn.js';
import { isGone } from './sources/unreadable.js';

export interface PublicFile {
  readonly absolutePath: string;
  /** The last part of the path. */
  readonly base: string;
  /** MD5 of the bytes, in hexadecimal. */
  readonly contentDigest: string;
}

export interface PublicFiles {
  /**
   * Copies a file of the site to where it is served from, once, and gives the
   * path of its URL: `<prefix>/static/<contentDigest>/<base>`, percent-encoded.
   * The copy is there, whole, when the path is given.
   *
   * @throws AppError `not_found` when the file has gone, `conflict` when it no
   * longer has the digest.
   */
  publish(file: PublicFile): Promise<string>;
  /** The path that {@link PublicFiles.publish} gives, without making the copy. */
  pathOf(file: Pick<PublicFile, 'base' | 'contentDigest'>): string;
}

/** Each copy holds two descriptors; more at once would not make one disk faster. */
const MAX_COPIES = 8;

const DIGEST = /^[0-9a-f]{32}$/;

export interface PublicFilesOptions {
  /** Where the public files are; `static` is made in it. */
  readonly directory: string;
  /** What stands before every path: `''`, or a path such as `/blog`. */
  readonly pathPrefix?: string | undefined;
}

export function openPublicFiles({ directory, pathPrefix = '' }: PublicFilesOptions): PublicFiles {
  const pathOf: PublicFiles['pathOf'] = ({ base, contentDigest }) =>
    `${pathPrefix}/static/${contentDigest}/${encodeURIComponent(base)}`;
  const copyInTurn = inTurn(MAX_COPIES);
  const once = onceAtATime();
  return {
    async publish(file) {
      requirePlainName(file);
      const target = path.join(directory, 'static', file.contentDigest, file.base);
      await once(target, () => copyInTurn(() => copy(file, target)));
      return pathOf(file);
    },
    pathOf,
  };
}

/** Both come from our own records; this is the second lock on where a copy may land. */
function requirePlainName({ base, contentDigest }: PublicFile): void {
  const isPlain = base !== '' && base !== '.' && base !== '..' && !/[/\0\p{Surrogate}]/u.test(base);
  if (!isPlain || !DIGEST.test(contentDigest)) {
    throw new AppError('invalid_input', `Expected a file name and an MD5 digest; received ${JSON.stringify(base)}.`);
  }
}

/**
 * A copy and not a link: an edit in place of the site's file would otherwise
 * change what is served, forever cached, under the old digest.
 */
async function copy(file: PublicFile, target: string): Promise<void> {
  if (await isThere(target)) return;
  await mkdir(path.dirname(target), { recursive: true });
  const temporary = path.join(path.dirname(path.dirname(target)), `.${randomUUID()}`);
  try {
    await copyFile(file.absolutePath, temporary, constants.COPYFILE_FICLONE);
    if ((await digestOf(temporary)) !== file.contentDigest) throw changed(file);
    await rename(temporary, target);
  } catch (error) {
    throw isGone(error) ? gone(file, error) : error;
  } finally {
    await rm(temporary, { force: true });
  }
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

function changed({ base }: PublicFile): AppError {
  return new AppError('conflict', `Expected ${JSON.stringify(base)} as it was indexed; it has changed since.`);
}

function gone({ base }: PublicFile, cause: unknown): AppError {
  return new AppError('not_found', `Expected ${JSON.stringify(base)} as it was indexed; it has gone since.`, { cause });
}
