import type { Sharp } from 'sharp';
import type { ImageMetadata } from './metadata.js';
import { MAX_PIXELS } from './open-picture.js';
import type { Recipe } from './recipe.js';

/**
 * Whether all frames of a picture are kept: those of a GIF, where the format
 * written can hold them. Of an animated WEBP the first one is taken, as ever.
 *
 * What is turned or trimmed becomes its first frame too: frames lie in memory
 * as one tall strip, which can't be.
 */
export function keepsFrames({ format, pages, width, height }: ImageMetadata, recipe: Recipe): boolean {
  const canHold = recipe.format === 'gif' || recipe.format === 'webp';
  if (format !== 'gif' || pages === 1 || !canHold) return false;
  if (recipe.rotate !== undefined || recipe.trim !== undefined) return false;
  return Math.max(width * height, recipe.width * recipe.height) * pages <= MAX_PIXELS;
}

/**
 * Cuts every frame where the first one is best cut, for the two ways of
 * cutting that look at the pixels and that sharp does on one frame alone.
 */
export async function cropFrames(frames: Sharp, first: Sharp, recipe: Recipe): Promise<Sharp> {
  const { width, height, focus } = recipe;
  const { info } = await first
    .clone()
    .resize({ width, height, fit: 'cover', position: focus === 'ENTROPY' ? 'entropy' : 'attention' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { width: wide, height: high } = await first.metadata();
  const scale = Math.max(width / wide, height / high);
  return frames
    .resize({
      width: Math.max(width, Math.round(wide * scale)),
      height: Math.max(height, Math.round(high * scale)),
      fit: 'fill',
    })
    .extract({
      // Sharp tells how far the image was moved, so what was cut off is negative.
      left: -(info.cropOffsetLeft ?? 0),
      top: -(info.cropOffsetTop ?? 0),
      width,
      height,
    });
}
