import { hash } from 'node:crypto';
import { AppError } from '../errors.js';
import type { CropFocus, Duotone, ImageArguments } from './arguments.js';
import { requireWithin } from './bounds.js';
import { formatColour, parseColour, parseHex } from './colours.js';
import { LONGEST_SIDES, qualityOf } from './formats.js';
import type { OutputFormat } from './formats.js';
import { turnSize } from './sizes.js';
import type { Scaled, Size } from './sizes.js';

/**
 * How one image is made from a picture: all that decides its pixels, and
 * nothing else, so that equal meaning is an equal recipe.
 */
export interface Recipe extends Scaled, Operations {
  readonly format: OutputFormat;
  /** 1 to 100, but of a GIF, which has none. */
  readonly quality?: number;
  /** Of a JPEG. */
  readonly progressive?: boolean;
  /** Of a PNG: 0 to 9. */
  readonly compressionLevel?: number;
  /** Of a PNG: how quickly its colours are chosen, 1 to 10. */
  readonly speed?: number;
  /** What stays when something is cut off; only where something is. */
  readonly focus?: CropFocus;
  /** The colour behind; only where it is seen. */
  readonly background?: string;
}

/** What is done beside scaling; left out where it changes nothing. */
export interface Operations {
  /** Turned as the EXIF orientation says. */
  readonly orient: boolean;
  /** Degrees clockwise, 1 to 359. */
  readonly rotate?: number;
  readonly trim?: number;
  readonly grayscale?: true;
  /** Colours as six hexadecimal digits, opacity in percent. */
  readonly duotone?: { readonly highlight: string; readonly shadow: string; readonly opacity: number };
}

/** Raised when the same recipe would give other pixels, so that old files aren't taken for new ones. */
export const PIPELINE_VERSION = 1;

/** The difference of two colours of eight bits is no larger. */
const MAX_TRIM = 255;

/**
 * 2^25 pixels are a screen of 8K. An image may have as many, or as many as its
 * picture: enlarging beyond is a mistake, or an attack on our memory.
 */
const MAX_ENLARGED_PIXELS = 2 ** 25;

/**
 * Reads the arguments that decide what is done to a picture.
 *
 * @throws AppError `invalid_input` that names the argument.
 */
export function toOperations(args: ImageArguments): Operations {
  requireWithin('trim', args.trim, { min: 0, max: MAX_TRIM, whole: false });
  const rotate = (((args.rotate ?? 0) % 360) + 360) % 360;
  return {
    // A turn of one's own is counted from the picture as it lies in the file, even one of 360 degrees.
    orient: !args.rotate,
    ...(rotate === 0 ? {} : { rotate }),
    ...(args.trim ? { trim: args.trim } : {}),
    ...(args.grayscale ? { grayscale: true } : {}),
    ...(args.duotone ? { duotone: toDuotone(args.duotone) } : {}),
  };
}

function toDuotone({ highlight, shadow, opacity }: Duotone): Operations['duotone'] {
  requireWithin('duotone.opacity', opacity, { min: 0, max: 100 });
  return {
    highlight: formatColour(parseHex('duotone.highlight', highlight)),
    shadow: formatColour(parseHex('duotone.shadow', shadow)),
    // 0 means the same as nothing: all of it.
    opacity: opacity === 0 ? 100 : (opacity ?? 100),
  };
}

/**
 * Holds every argument that is about encoding to its bounds, whichever the
 * format: a mistake is told before a picture of that format comes along.
 */
export function requireEncoding(args: ImageArguments): void {
  for (const name of ['quality', 'jpegQuality', 'pngQuality', 'webpQuality'] as const) {
    requireWithin(name, args[name], { min: 1, max: 100 });
  }
  requireWithin('pngCompressionLevel', args.pngCompressionLevel, { min: 0, max: 9 });
  requireWithin('pngCompressionSpeed', args.pngCompressionSpeed, { min: 1, max: 10 });
}

/** The recipe of one image; the arguments are within their bounds already, but for `background`. */
export function toRecipe(scaled: Scaled, format: OutputFormat, operations: Operations, args: ImageArguments): Recipe {
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

function toEncoding(format: OutputFormat, args: ImageArguments): Pick<Recipe, Encoding> {
  const quality = qualityOf(format, args);
  switch (format) {
    case 'gif':
      return {};
    case 'jpg':
      return { quality, progressive: args.jpegProgressive ?? true };
    case 'png':
      return {
        quality,
        compressionLevel: args.pngCompressionLevel ?? 9,
        // Of the best quality all colours stay, so none are chosen.
        ...(quality === 100 ? {} : { speed: args.pngCompressionSpeed ?? 4 }),
      };
    default:
      return { quality };
  }
}

type Encoding = 'quality' | 'progressive' | 'compressionLevel' | 'speed';

/** The size that is written: turned, if it is. */
export const writtenSize = ({ width, height, rotate = 0 }: Size & { readonly rotate?: number }): Size =>
  turnSize({ width, height }, rotate);

/**
 * Refuses an image that its format can't hold, or that has many more pixels than its picture.
 *
 * @throws AppError `invalid_input`.
 */
export function requireMakeable(recipe: Pick<Recipe, 'format' | 'width' | 'height' | 'rotate'>, source: Size): void {
  const { width, height } = writtenSize(recipe);
  const longest = LONGEST_SIDES[recipe.format];
  if (Math.max(width, height) > longest) {
    throw tooLarge({ width, height }, `sides of at most ${longest} pixels, as ${recipe.format} holds`);
  }
  const most = Math.max(MAX_ENLARGED_PIXELS, source.width * source.height);
  // A slanted picture has up to twice its pixels, most of them corners.
  const allowed = recipe.rotate === undefined ? most : 2 * most;
  if (width * height > allowed) throw tooLarge({ width, height }, `at most ${allowed} pixels`);
}

function tooLarge({ width, height }: Size, expected: string): AppError {
  return new AppError(
    'invalid_input',
    `Expected an image with ${expected}; the arguments ask for ${width} × ${height}.`,
  );
}

/** One spelling for each recipe: its members in the order of their names. */
export const formatRecipe = (recipe: Recipe): string => JSON.stringify(recipe, MEMBERS);

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

/** Hexadecimal digits: 96 bits, so that a site of 10^9 recipes has no two alike. */
const DIGEST_LENGTH = 24;

/** What a derived file is called by the text of its recipe. */
export const digestOf = (text: string): string =>
  hash('sha256', `${PIPELINE_VERSION} ${text}`, 'hex').slice(0, DIGEST_LENGTH);
