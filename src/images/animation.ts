import type { Sharp } from 'sharp';
import type { ImageMetadata } from './metadata.js';
import { MAX_PIXELS } from './open-image.js';
import type { ImageTransform } from './transform.js';

/**
 * Returns whether the derived image is animated. Only an animated GIF keeps its frames, and only in a format that can
 * hold them; an animated WEBP is reduced to its first frame.
 *
 * Rotating or trimming reduces a GIF to its first frame as well: its frames lie in memory as one tall strip, to which
 * neither operation can be applied. So does exceeding {@link MAX_PIXELS} over all frames.
 */
export function keepsFrames({ format, pages, width, height }: ImageMetadata, recipe: ImageTransform): boolean {
  const canHold = recipe.format === 'gif' || recipe.format === 'webp';
  if (format !== 'gif' || pages === 1 || !canHold) return false;
  if (recipe.rotate !== undefined || recipe.trim !== undefined) return false;
  return Math.max(width * height, recipe.width * recipe.height) * pages <= MAX_PIXELS;
}

/**
 * Crops every frame to the area chosen for the first one. Needed for the focuses ATTENTION and ENTROPY, which depend on
 * the pixels: sharp computes them for single frames only.
 */
export async function cropFrames(frames: Sharp, first: Sharp, recipe: ImageTransform): Promise<Sharp> {
  const { width, height, focus } = recipe;
  const { info } = await first
    .clone()
    .resize({ width, height, fit: 'cover', position: focus === 'ENTROPY' ? 'entropy' : 'attention' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { width: frameWidth, height: frameHeight } = await first.metadata();
  const scale = Math.max(width / frameWidth, height / frameHeight);
  return frames
    .resize({
      width: Math.max(width, Math.round(frameWidth * scale)),
      height: Math.max(height, Math.round(frameHeight * scale)),
      fit: 'fill',
    })
    .extract({
      // sharp reports the offset by which the image was moved, which is negative.
      left: -(info.cropOffsetLeft ?? 0),
      top: -(info.cropOffsetTop ?? 0),
      width,
      height,
    });
}
