import { open, readFile } from 'node:fs/promises';
import sharp, { type Metadata, type Sharp, type SharpOptions } from 'sharp';
import { type ImageMetadata, type ImageSource, type SourceFormat, unreadableImageError } from '../source.js';

/**
 * Reads the header of a file in the current process.
 *
 * @throws AppError `unprocessable` for a file that is not an image, or has more pixels than the limit.
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
  if (width * height > maxPixels) {
    throw unreadableImageError(source, `it has ${width} × ${height} pixels; the limit is ${maxPixels}`);
  }
  const isAnimated = format === 'gif' || format === 'webp';
  return { format, width, height, orientation, pages: isAnimated ? pages : 1, hasAlpha };
}

/**
 * 2^27 pixels are 134 megapixels, about the size of the largest photographs. Rotating and trimming decode the whole
 * image, which then takes half a gigabyte.
 */
const MAX_PIXELS = 2 ** 27;

let maxPixels = MAX_PIXELS;

/** Returns the largest number of pixels of a source image, over all frames. */
export const getMaxPixels = (): number => maxPixels;

/** Changes the limit of this process, which decodes images. */
export function setMaxPixels(pixels: number): void {
  maxPixels = pixels;
}

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
const decoding = (): SharpOptions => ({
  limitInputPixels: maxPixels,
  // Fails on truncated images, but not on harmless warnings.
  failOn: 'error',
});

/**
 * Detects the format of a file from its first bytes.
 *
 * @throws AppError `unprocessable` when the file can't be opened or has no supported format.
 */
async function readFormat(source: ImageSource): Promise<SourceFormat> {
  const head = await readHead(source);
  if (head.length === 0) throw unreadableImageError(source, 'it is empty');
  const format = findFormat(head, source.ext.slice(1).toLowerCase());
  if (format === undefined) throw unreadableImageError(source, 'its format is not supported');
  return format;
}

/** Opens an image for decoding. Pixels are decoded when the result is used. */
export async function openImage(source: ImageSource, format: SourceFormat, options?: SharpOptions): Promise<Sharp> {
  const max = MAX_BUFFERED_BYTES[format];
  if (max === undefined) return sharp(source.absolutePath, { ...decoding(), ...options });
  if (source.size > max) throw unreadableImageError(source, `it is larger than ${max} bytes`);
  return sharp(await readFile(source.absolutePath), { ...decoding(), ...options });
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

/** Enough for every signature, and to reach the root element of most drawings. */
const SIGNATURE_BYTES = 4096;

type Test = (head: Buffer) => boolean;

const startsWith =
  (...signatures: readonly string[]): Test =>
  (head) =>
    signatures.some((signature) => head.subarray(0, signature.length).equals(Buffer.from(signature, 'latin1')));

const hasAt =
  (offset: number, ...texts: readonly string[]): Test =>
  (head) =>
    texts.some((text) => head.toString('latin1', offset, offset + text.length) === text);

const SIGNATURES: readonly (readonly [Exclude<SourceFormat, 'svg'>, Test])[] = [
  ['jpeg', startsWith('\xff\xd8\xff')],
  ['png', startsWith('\x89PNG\r\n\x1a\n')],
  ['gif', startsWith('GIF87a', 'GIF89a')],
  ['tiff', startsWith('II*\0', 'MM\0*', 'II+\0', 'MM\0+')],
  ['webp', (head) => hasAt(0, 'RIFF')(head) && hasAt(8, 'WEBP')(head)],
  ['avif', (head) => hasAt(4, 'ftyp')(head) && hasAt(8, 'avif', 'avis', 'mif1', 'miaf')(head)],
];

/**
 * Returns the format that the first bytes of a file indicate, or `undefined`. The extension matters for SVG only: as a
 * drawing can refer to other files, a file without the extension `svg` is never treated as one.
 *
 * @param extension In lower case, without a dot.
 */
function findFormat(head: Buffer, extension: string): SourceFormat | undefined {
  const [format] = SIGNATURES.find(([, test]) => test(head)) ?? [];
  if (format !== undefined || extension !== 'svg') return format;
  return /<(?:[\w-]+:)?svg[\s>]/u.test(head.toString('utf8')) ? 'svg' : undefined;
}
