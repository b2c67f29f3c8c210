import { hash } from 'node:crypto';
import { AppError } from '../core/errors.js';
import type { CropFocus, Duotone, ImageArguments } from './arguments.js';
import { assertWithin } from './bounds.js';
import { formatColour, parseColour, parseHex } from './colours.js';
import { LONGEST_SIDES, getQuality } from './formats.js';
import type { OutputFormat } from './formats.js';
import { rotateSize } from './sizes.js';
import type { Scaled, Size } from './sizes.js';

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

/** Increase when the same transform gives different pixels, so that existing files are not reused. */
export const PIPELINE_VERSION = 1;

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

/** Returns the size of the derived image, after its rotation. */
export const outputSize = ({ width, height, rotate = 0 }: Size & { readonly rotate?: number }): Size =>
  rotateSize({ width, height }, rotate);

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
  const longest = LONGEST_SIDES[recipe.format];
  if (Math.max(width, height) > longest) {
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

/** Serialises a transform with its members in a fixed order, so that equal transforms give equal text. */
export const formatTransform = (recipe: ImageTransform): string => JSON.stringify(recipe, MEMBERS);

const MEMBERS = [
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
export const toImageDigest = (text: string): string =>
  hash('sha256', `${PIPELINE_VERSION} ${text}`, 'hex').slice(0, DIGEST_LENGTH);
