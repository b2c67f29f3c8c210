import { stat } from 'node:fs/promises';
import { AppError } from '@trellis/core/errors';
import type { Box } from './plan/sizes.js';

/** An image file of the site, as recorded by the last scan. */
export interface ImageSource {
  readonly absolutePath: string;
  /** From the root of the site source; used in error messages. */
  readonly relativePath: string;
  /** The file name with its extension. */
  readonly base: string;
  /** The file name without its extension. */
  readonly name: string;
  /** The extension with its dot. */
  readonly ext: string;
  /** MD5 of the content, in hexadecimal: the key of everything that is derived from the image. */
  readonly contentDigest: string;
  readonly size: number;
  readonly mtimeMs: number;
}

/** The supported formats of source images. */
export type SourceFormat = 'jpeg' | 'png' | 'webp' | 'gif' | 'tiff' | 'avif' | 'svg';

/** The facts in the header of an image file. */
export interface ImageMetadata {
  /** Detected from the content, not from the file name. */
  readonly format: SourceFormat;
  /** In pixels, with the EXIF orientation applied. */
  readonly width: number;
  readonly height: number;
  /** The EXIF orientation, 1 to 8. From 5 on, width and height are swapped in the file. */
  readonly orientation: number;
  /** The number of frames of an animated GIF or WEBP, otherwise 1. */
  readonly pages: number;
  readonly hasAlpha: boolean;
}

/** The metadata of an image, and the box within its borders if the transform trims them. */
export interface ImageDimensions extends ImageMetadata {
  readonly trimmed?: Box;
}

/**
 * Validates that a file has not changed since the last scan, so that results can be stored by its recorded digest.
 * Compares size and modification time, not the content.
 *
 * @throws AppError `not_found` when the file was deleted, `conflict` when it has changed.
 */
export async function assertUnchanged({ absolutePath, relativePath, size, mtimeMs }: ImageSource): Promise<void> {
  const stats = await stat(absolutePath).catch((cause: unknown) => {
    throw new AppError('not_found', `${quote(relativePath)} was deleted after the last scan.`, { cause });
  });
  // Recorded times pass through ISO 8601 text, which has whole milliseconds.
  if (stats.size !== size || Math.abs(stats.mtimeMs - mtimeMs) >= 1) {
    throw new AppError('conflict', `${quote(relativePath)} changed after the last scan. Retry shortly.`);
  }
}

/** Returns an `unprocessable` error that states the file and why it can't be read. */
export function unreadableImageError(source: ImageSource, reason: string, cause?: unknown): AppError {
  const message = `${quote(source.relativePath)} cannot be read as an image: ${reason}.`;
  return new AppError('unprocessable', message, { cause });
}

const quote = (path: string): string => JSON.stringify(path);
