import { open, readFile } from 'node:fs/promises';
import sharp from 'sharp';
import type { Sharp, SharpOptions } from 'sharp';
import { findFormat, SIGNATURE_BYTES } from './signature.js';
import type { SourceFormat } from './signature.js';
import { unreadableImageError } from './source.js';
import type { ImageSource } from './source.js';

/**
 * 2^27 pixels are 134 megapixels, about the size of the largest photographs. Rotating and trimming decode the whole
 * image, which then takes half a gigabyte.
 */
export const MAX_PIXELS = 2 ** 27;

/**
 * The formats that are read into memory before they are decoded, with the maximum size of a file in bytes.
 *
 * A drawing (SVG) that is decoded without its path can't refer to other files; URLs are never followed. A larger
 * drawing is a broken export that would take minutes to parse. The decoders of the other formats would map the file
 * into memory, and truncating it at that moment would crash the process.
 */
const MAX_BUFFERED_BYTES: Readonly<Partial<Record<SourceFormat, number>>> = {
  svg: 16 * 1024 * 1024,
  webp: 128 * 1024 * 1024,
  gif: 128 * 1024 * 1024,
};

/** Decoder options that differ from sharp's defaults. */
const DECODING = {
  limitInputPixels: MAX_PIXELS,
  // Fails on truncated images, but not on harmless warnings.
  failOn: 'error',
} satisfies SharpOptions;

/**
 * Detects the format of a file from its first bytes.
 *
 * @throws AppError `unprocessable` when the file can't be opened or has no supported format.
 */
export async function readFormat(source: ImageSource): Promise<SourceFormat> {
  const head = await readHead(source);
  if (head.length === 0) throw unreadableImageError(source, 'it is empty');
  const format = findFormat(head, source.ext.slice(1).toLowerCase());
  if (format === undefined) throw unreadableImageError(source, 'its format is not supported');
  return format;
}

/** Opens an image for decoding. Pixels are decoded when the result is used. */
export async function openImage(source: ImageSource, format: SourceFormat, options?: SharpOptions): Promise<Sharp> {
  const max = MAX_BUFFERED_BYTES[format];
  if (max === undefined) return sharp(source.absolutePath, { ...DECODING, ...options });
  if (source.size > max) throw unreadableImageError(source, `it is larger than ${max} bytes`);
  return sharp(await readFile(source.absolutePath), { ...DECODING, ...options });
}

async function readHead(source: ImageSource): Promise<Buffer> {
  const file = await open(source.absolutePath).catch((cause: unknown) => {
    throw unreadableImageError(source, 'the file cannot be opened', cause);
  });
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SIGNATURE_BYTES), 0, SIGNATURE_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
