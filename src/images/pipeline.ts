import sharp from 'sharp';
import type { ResizeOptions, Sharp } from 'sharp';
import { AppError } from '../core/errors.js';
import { orientBox } from './boxes.js';
import type { Box } from './boxes.js';
import { cropFrames, keepsFrames } from './animation.js';
import { encode } from './encode.js';
import type { EncodeOptions, Timing } from './encode.js';
import type { ImageMetadata } from './metadata.js';
import { openImage } from './open-image.js';
import type { ImageTransform } from './transform.js';
import { needsTwoRuns } from './render/jobs.js';
import { applyDuotone } from './recolour.js';
import { sizeInFile } from './sizes.js';
import { unreadableImageError } from './source.js';
import type { ImageSource } from './source.js';

/** The metadata of an image, and the box within its borders if the transform trims them. */
export interface ImageDimensions extends ImageMetadata {
  readonly trimmed?: Box;
}

/**
 * Renders a derived image. The operations run in this order: trim, EXIF orientation, resize, grayscale, rotate,
 * duotone, encode.
 *
 * @throws AppError `unprocessable` when the source can't be decoded completely.
 */
export async function renderImage(
  source: ImageSource,
  metadata: ImageDimensions,
  recipe: ImageTransform,
): Promise<Buffer> {
  try {
    const { image, ...options } = await paint(source, metadata, recipe);
    return await encode(image, recipe, options).toBuffer();
  } catch (cause) {
    throw toAppError(source, cause);
  }
}

/** Renders a derived image without encoding it: four bytes per pixel (RGBA), row by row. */
export async function renderPixels(
  source: ImageSource,
  metadata: ImageDimensions,
  recipe: ImageTransform,
): Promise<Pixels> {
  try {
    const { image } = await paint(source, { ...metadata, pages: 1 }, recipe);
    // Workaround: sharp drops the alpha channel of raw pixels after `grayscale()`, so they are encoded first.
    const whole = await image.png({ compressionLevel: 0 }).toBuffer();
    const { data, info } = await sharp(whole, { limitInputPixels: false })
      .toColourspace('srgb')
      .ensureAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    return { data, width: info.width, height: info.height };
  } catch (cause) {
    throw toAppError(source, cause);
  }
}

const toAppError = (source: ImageSource, cause: unknown): AppError =>
  cause instanceof AppError ? cause : unreadableImageError(source, 'its pixels cannot be decoded', cause);

/** Returns the box within the borders of an image, in the pixels as stored in the file. */
export async function measureTrim(source: ImageSource, { format }: ImageMetadata, threshold: number): Promise<Box> {
  try {
    const image = await openImage(source, format);
    // Only the offsets are needed; one grey byte per pixel is the cheapest output that sharp supports.
    const { info } = await image
      .trim({ threshold })
      .toColourspace('b-w')
      .removeAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    // sharp reports the offsets by which the image was moved, which are negative.
    const [left, top] = [Math.abs(info.trimOffsetLeft ?? 0), Math.abs(info.trimOffsetTop ?? 0)];
    return { left, top, width: info.width, height: info.height };
  } catch (cause) {
    throw toAppError(source, cause);
  }
}

export interface Pixels {
  readonly data: Buffer;
  readonly width: number;
  readonly height: number;
}

interface Painted extends EncodeOptions {
  readonly image: Sharp;
}

async function paint(source: ImageSource, metadata: ImageDimensions, recipe: ImageTransform): Promise<Painted> {
  const { hasAlpha } = metadata;
  const animated = keepsFrames(metadata, recipe);
  const scaled = await scale(source, metadata, recipe, animated);
  if (!needsTwoRuns(recipe)) {
    return { image: recipe.grayscale ? scaled.grayscale() : scaled, hasAlpha };
  }
  const pixels = await toPixels(scaled);
  const rotated = rotate(recipe.grayscale ? pixels.grayscale() : pixels, recipe);
  const image = recipe.duotone ? applyDuotone(rotated, recipe.duotone) : rotated;
  return { image, hasAlpha, ...(animated ? { timing: await readTiming(source, metadata) } : {}) };
}

async function scale(
  source: ImageSource,
  metadata: ImageDimensions,
  recipe: ImageTransform,
  animated: boolean,
): Promise<Sharp> {
  const image = await openImage(source, metadata.format, { animated, autoOrient: recipe.orient });
  const box = recipe.trim === undefined ? undefined : metadata.trimmed;
  if (box) image.extract(recipe.orient ? orientBox(box, sizeInFile(metadata), metadata.orientation) : box);
  if (animated && recipe.scaling === 'cover' && needsPixels(recipe)) {
    return cropFrames(image, await openImage(source, metadata.format), recipe);
  }
  return image.resize(resizeOptions(recipe));
}

const needsPixels = ({ focus }: ImageTransform): boolean => focus === 'ATTENTION' || focus === 'ENTROPY';

function resizeOptions({ width, height, scaling, focus, background = '#000000' }: ImageTransform): ResizeOptions {
  if (scaling === 'cover') return { width, height, fit: 'cover', position: (focus ?? 'ATTENTION').toLowerCase() };
  return { width, height, fit: scaling, background };
}

/** Renders the operations so far, as the input of the second sharp run. */
async function toPixels(image: Sharp): Promise<Sharp> {
  const { data, info } = await image.toColourspace('srgb').raw().toBuffer({ resolveWithObject: true });
  const { width, height, channels, pageHeight } = info;
  // All frames form one strip, whose size `keepsFrames` has checked.
  return sharp(data, {
    raw: { width, height, channels, ...(pageHeight ? { pageHeight } : {}) },
    limitInputPixels: false,
  });
}

const rotate = (image: Sharp, { rotate: degrees }: ImageTransform): Sharp =>
  degrees === undefined ? image : image.rotate(degrees);

async function readTiming(source: ImageSource, { format }: ImageMetadata): Promise<Timing> {
  const { delay, loop } = await (await openImage(source, format, { animated: true })).metadata();
  return { ...(delay ? { delay } : {}), ...(loop === undefined ? {} : { loop }) };
}
