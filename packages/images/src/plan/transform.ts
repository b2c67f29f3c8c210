import { hash } from 'node:crypto';
import { AppError } from '@trellis/core/errors';
import {
  assertWithin,
  type CropFocus,
  type Duotone,
  formatColour,
  type ImageArguments,
  type ImageFormat,
  parseColour,
  parseHex,
} from './arguments.js';
import { rotateSize, type Scaled, type Size } from './sizes.js';

/**
 * An image transform: everything that determines the bytes of a derived image, and nothing else, so that arguments with
 * the same meaning give equal transforms.
 */
export interface ImageTransform extends Scaled, Operations {
  readonly format: OutputFormat;
  /** 1 to 100; absent for GIF. */
  readonly quality?: number;
  /** JPEG only. */
  readonly progressive?: boolean;
  /** PNG only: 0 to 9. */
  readonly compressionLevel?: number;
  /** PNG only: the speed of the colour quantisation, 1 to 10. */
  readonly speed?: number;
  /** The area that cropping retains; only with the scaling `cover`. */
  readonly focus?: CropFocus;
  /** The colour around the image; only with the scaling `contain`. */
  readonly background?: string;
  /** Whether an animated WEBP keeps its frames. A GIF always does. */
  readonly animated?: true;
}

/** The operations other than scaling. Those without an effect are absent. */
export interface Operations {
  /** Whether the EXIF orientation is applied. */
  readonly orient: boolean;
  /** Degrees clockwise, 1 to 359. */
  readonly rotate?: number;
  readonly trim?: number;
  readonly grayscale?: true;
  /** Colours as `#` and six hexadecimal digits, opacity in percent. */
  readonly duotone?: { readonly highlight: string; readonly shadow: string; readonly opacity: number };
}

/** Returns the version of the pipeline. Increase it when a transform gives different pixels, so that its files are not reused. */
export const getPipelineVersion = (recipe: ImageTransform): number => (needsNewPalette(recipe) ? 2 : 1);

/** The largest difference between two 8-bit colour values. */
const MAX_TRIM = 255;

/**
 * 2^25 pixels are an 8K screen. A derived image may have this many pixels, or as many as its source. Larger requests
 * are mistakes or attempts to exhaust the memory.
 */
const MAX_ENLARGED_PIXELS = 2 ** 25;

/**
 * Converts the arguments to operations.
 *
 * @throws AppError `invalid_input` that names the argument.
 */
export function toOperations(args: ImageArguments): Operations {
  assertWithin('trim', args.trim, { min: 0, max: MAX_TRIM, whole: false });
  const rotate = (((args.rotate ?? 0) % 360) + 360) % 360;
  return {
    // An explicit rotation, even by 360 degrees, replaces the EXIF orientation.
    orient: !args.rotate,
    ...(rotate === 0 ? {} : { rotate }),
    ...(args.trim ? { trim: args.trim } : {}),
    ...(args.grayscale ? { grayscale: true } : {}),
    ...(args.duotone ? { duotone: toDuotone(args.duotone) } : {}),
  };
}

function toDuotone({ highlight, shadow, opacity }: Duotone): Operations['duotone'] {
  assertWithin('duotone.opacity', opacity, { min: 0, max: 100 });
  return {
    highlight: formatColour(parseHex('duotone.highlight', highlight)),
    shadow: formatColour(parseHex('duotone.shadow', shadow)),
    // 0 selects the default, 100.
    opacity: opacity === 0 ? 100 : (opacity ?? 100),
  };
}

/**
 * Validates the encoding arguments of all formats, so that an error does not depend on the format of the source.
 *
 * @throws AppError `invalid_input` that names the argument.
 */
export function assertEncoding(args: ImageArguments): void {
  for (const name of ['quality', 'jpegQuality', 'pngQuality', 'webpQuality'] as const) {
    assertWithin(name, args[name], { min: 1, max: 100 });
  }
  assertWithin('pngCompressionLevel', args.pngCompressionLevel, { min: 0, max: 9 });
  assertWithin('pngCompressionSpeed', args.pngCompressionSpeed, { min: 1, max: 10 });
}

/**
 * Returns the transform of one image. All arguments except `background` must be validated.
 *
 * @throws AppError `invalid_input` for an invalid `background`.
 */
export function toTransform(
  scaled: Scaled,
  format: OutputFormat,
  operations: Operations,
  args: ImageArguments,
): ImageTransform {
  const background = formatColour(parseColour('background', args.background ?? 'rgba(0,0,0,1)'));
  const { width, height, scaling } = scaled;
  return {
    format,
    width,
    height,
    scaling,
    ...(scaling === 'cover' ? { focus: args.cropFocus ?? 'ATTENTION' } : {}),
    ...(scaling === 'contain' ? { background } : {}),
    ...operations,
    ...toEncoding(format, args),
  };
}

function toEncoding(format: OutputFormat, args: ImageArguments): Pick<ImageTransform, Encoding> {
  const quality = getQuality(format, args);
  switch (format) {
    case 'gif':
      return {};
    case 'jpg':
      return { quality, progressive: args.jpegProgressive ?? true };
    case 'png':
      return {
        quality,
        compressionLevel: args.pngCompressionLevel ?? 9,
        // With quality 100 no palette is used, so the speed has no effect.
        ...(quality === 100 ? {} : { speed: args.pngCompressionSpeed ?? 4 }),
      };
    default:
      return { quality };
  }
}

type Encoding = 'quality' | 'progressive' | 'compressionLevel' | 'speed';

/**
 * Returns whether a transform needs two sharp runs: in a single one, sharp would rotate before it crops, and clip
 * colours before it applies the duotone.
 */
export const needsTwoRuns = ({ rotate, duotone }: ImageTransform): boolean =>
  rotate !== undefined || duotone !== undefined;

/** Returns whether a GIF may have colours that the palette of its source lacks. A rotation or duotone removes that palette. */
export const needsNewPalette = ({ format, grayscale, scaling }: ImageTransform): boolean =>
  format === 'gif' && (grayscale === true || scaling === 'contain');

/**
 * Returns whether the derived image may be animated. Frames lie in memory as one tall strip, which can be neither rotated
 * nor trimmed.
 */
export const canHoldFrames = ({ format, rotate, trim }: ImageTransform): boolean =>
  (format === 'gif' || format === 'webp') && rotate === undefined && trim === undefined;

/** Returns the size of the derived image, after its rotation. */
export const outputSize = ({ width, height, rotate = 0 }: Size & { readonly rotate?: number }): Size =>
  rotateSize({ width, height }, rotate);

export const canHoldSides = (format: OutputFormat, { width, height }: Size): boolean =>
  Math.max(width, height) <= LONGEST_SIDES[format];

/**
 * Validates the size of a derived image against the limits of its format and the number of pixels of its source.
 *
 * @throws AppError `invalid_input`.
 */
export function assertRenderable(
  recipe: Pick<ImageTransform, 'format' | 'width' | 'height' | 'rotate'>,
  source: Size,
): void {
  const { width, height } = outputSize(recipe);
  if (!canHoldSides(recipe.format, { width, height })) {
    const longest = LONGEST_SIDES[recipe.format];
    throw tooLarge({ width, height }, `sides of at most ${longest} pixels, the limit of ${recipe.format}`);
  }
  const unrotated = Math.max(MAX_ENLARGED_PIXELS, source.width * source.height);
  // A rotated image has up to twice its pixels, most of them in the corners.
  const allowed = recipe.rotate === undefined ? unrotated : 2 * unrotated;
  if (width * height > allowed) throw tooLarge({ width, height }, `at most ${allowed} pixels`);
}

function tooLarge({ width, height }: Size, expected: string): AppError {
  return new AppError('invalid_input', `Expected the image to have ${expected}; received ${width} × ${height}.`);
}

/** Serialises a transform and its version, with members in a fixed order, so that equal transforms give equal text. */
export const formatTransform = (recipe: ImageTransform): string =>
  `${getPipelineVersion(recipe)} ${JSON.stringify(recipe, MEMBERS)}`;

const MEMBERS = [
  'animated',
  'background',
  'compressionLevel',
  'duotone',
  'focus',
  'format',
  'grayscale',
  'height',
  'highlight',
  'opacity',
  'orient',
  'progressive',
  'quality',
  'rotate',
  'scaling',
  'shadow',
  'speed',
  'trim',
  'width',
];

/** 24 hexadecimal digits are 96 bits, so that even 10^9 transforms do not collide. */
const DIGEST_LENGTH = 24;

/** Returns the file name of a derived image, without extension, for its serialised transform. */
export const toImageDigest = (text: string): string => hash('sha256', text, 'hex').slice(0, DIGEST_LENGTH);

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
const LONGEST_SIDES: Readonly<Record<OutputFormat, number>> = {
  jpg: 65_535,
  png: 65_535,
  webp: 16_383,
  avif: 16_384,
  gif: 65_535,
  tiff: 65_535,
};

const DEFAULT_QUALITY = 50;

function getQuality(format: OutputFormat, args: ImageArguments): number {
  const own = { jpg: args.jpegQuality, png: args.pngQuality, webp: args.webpQuality };
  return (format in own ? own[format as keyof typeof own] : undefined) ?? args.quality ?? DEFAULT_QUALITY;
}
