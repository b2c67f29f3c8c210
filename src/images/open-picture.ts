import { open, readFile } from 'node:fs/promises';
import sharp from 'sharp';
import type { Sharp, SharpOptions } from 'sharp';
import { findFormat, SIGNATURE_BYTES } from './signature.js';
import type { SourceFormat } from './signature.js';
import { unreadable } from './source.js';
import type { ImageSource } from './source.js';

/**
 * 2^27 pixels are 134 megapixels, which the largest cameras give. Decoded
 * whole, as turning and trimming need it, they are half a gigabyte.
 */
export const MAX_PIXELS = 2 ** 27;

/**
 * What is read before it is decoded, and how many bytes of it at most. Of a
 * drawing, more is an export gone wrong, and would be parsed for minutes.
 *
 * A drawing without a path can refer to no other file; addresses are never
 * followed. The others would be mapped into memory, where a file that is cut
 * short in that moment ends the process.
 */
const READ_FIRST: Readonly<Partial<Record<SourceFormat, number>>> = {
  svg: 16 * 1024 * 1024,
  webp: 128 * 1024 * 1024,
  gif: 128 * 1024 * 1024,
};

/** How a picture is decoded, beside what sharp does by itself. */
const DECODING = {
  limitInputPixels: MAX_PIXELS,
  // A picture that ends in the middle is an error; one with a harmless oddity is not.
  failOn: 'error',
} satisfies SharpOptions;

/**
 * Reads the first bytes of a file.
 *
 * @throws AppError `unprocessable` when they are none of a picture.
 */
export async function readFormat(source: ImageSource): Promise<SourceFormat> {
  const head = await readHead(source);
  if (head.length === 0) throw unreadable(source, 'it is empty');
  const format = findFormat(head, source.ext.slice(1).toLowerCase());
  if (format === undefined) throw unreadable(source, 'its bytes are those of no format that can be read');
  return format;
}

/** The picture, ready to be worked on. */
export async function openPicture(source: ImageSource, format: SourceFormat, options?: SharpOptions): Promise<Sharp> {
  const most = READ_FIRST[format];
  if (most === undefined) return sharp(source.absolutePath, { ...DECODING, ...options });
  if (source.size > most) throw unreadable(source, `it has more than ${most} bytes`);
  return sharp(await readFile(source.absolutePath), { ...DECODING, ...options });
}

async function readHead(source: ImageSource): Promise<Buffer> {
  const file = await open(source.absolutePath).catch((cause: unknown) => {
    throw unreadable(source, 'the file can\u2019t be opened', cause);
  });
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SIGNATURE_BYTES), 0, SIGNATURE_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
