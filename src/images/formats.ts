import type { ImageArguments, ImageFormat } from './arguments.js';

/** What is written, by its encoder. */
export type OutputFormat = 'jpg' | 'png' | 'webp' | 'avif' | 'gif' | 'tiff';

/** An encoder, and the extension of what it writes, without a dot. */
export interface Output {
  readonly format: OutputFormat;
  readonly extension: string;
}

/** What a file of this extension is written as where the format stays; a drawing can only be painted. */
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

/** A file's extension may be the name of a property of every object. */
const findKept = (extension: string): Output | undefined =>
  Object.hasOwn(KEPT, extension) ? KEPT[extension] : undefined;

/** @param ext Of the file, with its dot. */
export function outputOf(ext: string, toFormat: ImageFormat | null | undefined): Output {
  if (toFormat && toFormat !== 'NO_CHANGE') return { format: CHOSEN[toFormat], extension: CHOSEN[toFormat] };
  return findKept(ext.slice(1).toLowerCase()) ?? { format: 'png', extension: 'png' };
}

/** The encoder behind an extension; `undefined` for one that nothing is written with. */
export function findOutputFormat(extension: string): OutputFormat | undefined {
  const output = findKept(extension);
  return output?.extension === extension ? output.format : undefined;
}

/** As data URIs name them. */
export const MEDIA_TYPES: Readonly<Record<OutputFormat, string>> = {
  jpg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
  avif: 'image/avif',
  gif: 'image/gif',
  tiff: 'image/tiff',
};

/** The longest side that each can hold; of AVIF and GIF, that its encoder takes. */
export const LONGEST_SIDES: Readonly<Record<OutputFormat, number>> = {
  jpg: 65_535,
  png: 65_535,
  webp: 16_383,
  avif: 16_384,
  gif: 65_535,
  tiff: 65_535,
};

const DEFAULT_QUALITY = 50;

export function qualityOf(format: OutputFormat, args: ImageArguments): number {
  const own = { jpg: args.jpegQuality, png: args.pngQuality, webp: args.webpQuality };
  return (format in own ? own[format as keyof typeof own] : undefined) ?? args.quality ?? DEFAULT_QUALITY;
}
