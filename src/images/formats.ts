import type { ImageArguments, ImageFormat } from './arguments.js';

/** The formats of derived images, each named after its encoder. */
export type OutputFormat = 'jpg' | 'png' | 'webp' | 'avif' | 'gif' | 'tiff';

/** An encoder, and the file extension of its images, without a dot. */
export interface Output {
  readonly format: OutputFormat;
  readonly extension: string;
}

/** The output for each file extension when the format is not changed. A drawing (SVG) is rasterised to PNG. */
const KEPT: Readonly<Record<string, Output>> = {
  jpg: { format: 'jpg', extension: 'jpg' },
  jpeg: { format: 'jpg', extension: 'jpg' },
  png: { format: 'png', extension: 'png' },
  webp: { format: 'webp', extension: 'webp' },
  avif: { format: 'avif', extension: 'avif' },
  gif: { format: 'gif', extension: 'gif' },
  tif: { format: 'tiff', extension: 'tif' },
  tiff: { format: 'tiff', extension: 'tiff' },
  svg: { format: 'png', extension: 'png' },
};

const CHOSEN: Readonly<Record<Exclude<ImageFormat, 'NO_CHANGE'>, OutputFormat>> = {
  AVIF: 'avif',
  JPG: 'jpg',
  PNG: 'png',
  WEBP: 'webp',
};

/** Own properties only: a file's extension may be `constructor`. */
const findKept = (extension: string): Output | undefined =>
  Object.hasOwn(KEPT, extension) ? KEPT[extension] : undefined;

/**
 * Returns the encoder and extension of a derived image; PNG for a source without an encoder.
 *
 * @param ext The extension of the source file, with its dot.
 */
export function toOutput(ext: string, toFormat: ImageFormat | null | undefined): Output {
  if (toFormat && toFormat !== 'NO_CHANGE') return { format: CHOSEN[toFormat], extension: CHOSEN[toFormat] };
  return findKept(ext.slice(1).toLowerCase()) ?? { format: 'png', extension: 'png' };
}

/** Returns the encoder that writes files with this extension, or `undefined`. */
export function findOutputFormat(extension: string): OutputFormat | undefined {
  const output = findKept(extension);
  return output?.extension === extension ? output.format : undefined;
}

/** Media types for data URIs. */
export const MEDIA_TYPES: Readonly<Record<OutputFormat, string>> = {
  jpg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
  avif: 'image/avif',
  gif: 'image/gif',
  tiff: 'image/tiff',
};

/** The longest side in pixels that each format allows; for AVIF and GIF, the limit of the encoder. */
export const LONGEST_SIDES: Readonly<Record<OutputFormat, number>> = {
  jpg: 65_535,
  png: 65_535,
  webp: 16_383,
  avif: 16_384,
  gif: 65_535,
  tiff: 65_535,
};

const DEFAULT_QUALITY = 50;

export function getQuality(format: OutputFormat, args: ImageArguments): number {
  const own = { jpg: args.jpegQuality, png: args.pngQuality, webp: args.webpQuality };
  return (format in own ? own[format as keyof typeof own] : undefined) ?? args.quality ?? DEFAULT_QUALITY;
}
