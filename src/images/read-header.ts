import type { Metadata } from 'sharp';
import type { ImageMetadata } from './metadata.js';
import { MAX_PIXELS, openImage, readFormat } from './open-image.js';
import type { SourceFormat } from './signature.js';
import { unreadableImageError } from './source.js';
import type { ImageSource } from './source.js';

/**
 * Reads the header of a file in the current process.
 *
 * @throws AppError `unprocessable` for a file that is not an image, or has more than {@link MAX_PIXELS} pixels.
 */
export async function readHeader(source: ImageSource): Promise<ImageMetadata> {
  const format = await readFormat(source);
  const image = await openImage(source, format, { limitInputPixels: false });
  const header = await image.metadata().catch((cause: unknown) => {
    throw unreadableImageError(source, 'its header cannot be decoded', cause);
  });
  return toMetadata(source, format, header);
}

function toMetadata(source: ImageSource, format: SourceFormat, header: Metadata): ImageMetadata {
  const { autoOrient, orientation = 1, pages = 1, hasAlpha } = header;
  const { width, height } = autoOrient;
  if (!(width >= 1 && height >= 1)) throw unreadableImageError(source, 'its header has no image size');
  if (width * height > MAX_PIXELS) {
    throw unreadableImageError(source, `it has ${width} × ${height} pixels; the limit is ${MAX_PIXELS}`);
  }
  const isAnimated = format === 'gif' || format === 'webp';
  return { format, width, height, orientation, pages: isAnimated ? pages : 1, hasAlpha };
}
