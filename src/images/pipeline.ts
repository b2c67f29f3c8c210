import sharp from 'sharp';
import type { ResizeOptions, Sharp } from 'sharp';
import { AppError } from '../errors.js';
import { turnBox } from './boxes.js';
import type { Box } from './boxes.js';
import { cropFrames, keepsFrames } from './animation.js';
import { encode } from './encode.js';
import type { EncodeOptions, Timing } from './encode.js';
import type { ImageMetadata } from './metadata.js';
import { openPicture } from './open-picture.js';
import type { Recipe } from './recipe.js';
import { isTwoRuns } from './render/jobs.js';
import { applyDuotone } from './recolour.js';
import { lyingSize } from './sizes.js';
import { unreadable } from './source.js';
import type { ImageSource } from './source.js';

/** A header, and where its picture is within the borders that a recipe takes off. */
export interface Measured extends ImageMetadata {
  readonly trimmed?: Box;
}

/**
 * Makes an image: trimmed, turned as EXIF says, brought to its size, gray,
 * turned, toned, encoded, in this order.
 *
 * @throws AppError `unprocessable` when the picture can't be read to its end.
 */
export async function makeImage(source: ImageSource, metadata: Measured, recipe: Recipe): Promise<Buffer> {
  try {
    const { image, ...options } = await paint(source, metadata, recipe);
    return await encode(image, recipe, options).toBuffer();
  } catch (cause) {
    throw toRefusal(source, cause);
  }
}

/** Makes an image without encoding it: four bytes a pixel, row by row. */
export async function makePixels(source: ImageSource, metadata: Measured, recipe: Recipe): Promise<Pixels> {
  try {
    const { image } = await paint(source, { ...metadata, pages: 1 }, recipe);
    // By a detour, as sharp gives pixels that it made gray without their transparency.
    const whole = await image.png({ compressionLevel: 0 }).toBuffer();
    const { data, info } = await sharp(whole, { limitInputPixels: false })
      .toColourspace('srgb')
      .ensureAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    return { data, width: info.width, height: info.height };
  } catch (cause) {
    throw toRefusal(source, cause);
  }
}

const toRefusal = (source: ImageSource, cause: unknown): AppError =>
  cause instanceof AppError ? cause : unreadable(source, 'its pixels can\u2019t be read', cause);

/** Where a picture is within its borders, as it lies in the file. */
export async function measureTrimmed(source: ImageSource, { format }: ImageMetadata, threshold: number): Promise<Box> {
  try {
    const picture = await openPicture(source, format);
    // Of what sharp can write, one gray byte a pixel is the least work.
    const { info } = await picture
      .trim({ threshold })
      .toColourspace('b-w')
      .removeAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    // Sharp tells how far the picture was moved, so what was taken off is negative.
    const [left, top] = [Math.abs(info.trimOffsetLeft ?? 0), Math.abs(info.trimOffsetTop ?? 0)];
    return { left, top, width: info.width, height: info.height };
  } catch (cause) {
    throw toRefusal(source, cause);
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

async function paint(source: ImageSource, metadata: Measured, recipe: Recipe): Promise<Painted> {
  const { hasAlpha } = metadata;
  const animated = keepsFrames(metadata, recipe);
  const scaled = await scale(source, metadata, recipe, animated);
  if (!isTwoRuns(recipe)) {
    return { image: recipe.grayscale ? scaled.grayscale() : scaled, hasAlpha };
  }
  const pixels = await toPixels(scaled);
  const turned = turn(recipe.grayscale ? pixels.grayscale() : pixels, recipe);
  const image = recipe.duotone ? applyDuotone(turned, recipe.duotone) : turned;
  return { image, hasAlpha, ...(animated ? { timing: await readTiming(source, metadata) } : {}) };
}

async function scale(source: ImageSource, metadata: Measured, recipe: Recipe, animated: boolean): Promise<Sharp> {
  const picture = await openPicture(source, metadata.format, { animated, autoOrient: recipe.orient });
  const box = recipe.trim === undefined ? undefined : metadata.trimmed;
  if (box) picture.extract(recipe.orient ? turnBox(box, lyingSize(metadata), metadata.orientation) : box);
  if (animated && recipe.scaling === 'cover' && looksAtPixels(recipe)) {
    return cropFrames(picture, await openPicture(source, metadata.format), recipe);
  }
  return picture.resize(resizeOptions(recipe));
}

const looksAtPixels = ({ focus }: Recipe): boolean => focus === 'ATTENTION' || focus === 'ENTROPY';

function resizeOptions({ width, height, scaling, focus, background = '#000000' }: Recipe): ResizeOptions {
  if (scaling === 'cover') return { width, height, fit: 'cover', position: (focus ?? 'ATTENTION').toLowerCase() };
  return { width, height, fit: scaling, background };
}

/** Half an image, as pixels that the next run starts from. */
async function toPixels(image: Sharp): Promise<Sharp> {
  const { data, info } = await image.toColourspace('srgb').raw().toBuffer({ resolveWithObject: true });
  const { width, height, channels, pageHeight } = info;
  // Frames are one strip, for which the bound was looked at before.
  return sharp(data, {
    raw: { width, height, channels, ...(pageHeight ? { pageHeight } : {}) },
    limitInputPixels: false,
  });
}

const turn = (image: Sharp, { rotate }: Recipe): Sharp => (rotate === undefined ? image : image.rotate(rotate));

async function readTiming(source: ImageSource, { format }: ImageMetadata): Promise<Timing> {
  const { delay, loop } = await (await openPicture(source, format, { animated: true })).metadata();
  return { ...(delay ? { delay } : {}), ...(loop === undefined ? {} : { loop }) };
}
