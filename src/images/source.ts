import { stat } from 'node:fs/promises';
import { AppError } from '../errors.js';

/** A file of the site that holds a picture, as it was indexed. */
export interface ImageSource {
  readonly absolutePath: string;
  /** From the source's root: what errors call the file. */
  readonly relativePath: string;
  /** The last part of the path, the same without its extension, and the extension with its dot. */
  readonly base: string;
  readonly name: string;
  readonly ext: string;
  /** MD5 of the bytes, in hexadecimal: what everything made from the picture is kept by. */
  readonly contentDigest: string;
  readonly size: number;
  readonly mtimeMs: number;
}

/**
 * Holds a file to what was indexed, so that what is read from it can be kept
 * by the digest of then. Size and time are looked at, not the bytes.
 *
 * @throws AppError `not_found` when the file has gone, `conflict` when it has changed.
 */
export async function requireUnchanged({ absolutePath, relativePath, size, mtimeMs }: ImageSource): Promise<void> {
  const stats = await stat(absolutePath).catch((cause: unknown) => {
    throw new AppError('not_found', `Expected ${quote(relativePath)} as it was indexed; it has gone since.`, { cause });
  });
  // Times travel through ISO text and other engines, which keep whole milliseconds.
  if (stats.size !== size || Math.abs(stats.mtimeMs - mtimeMs) >= 1) {
    throw new AppError('conflict', `Expected ${quote(relativePath)} as it was indexed; it has changed since.`);
  }
}

/** @returns a refusal of what a file holds, which names the file. */
export function unreadable(source: ImageSource, received: string, cause?: unknown): AppError {
  const message = `Expected a picture in ${quote(source.relativePath)}; ${received}.`;
  return new AppError('unprocessable', message, { cause });
}

const quote = (path: string): string => JSON.stringify(path);
