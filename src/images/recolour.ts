import type { Sharp } from 'sharp';
import { parseHex } from './colours.js';
import type { ImageTransform } from './transform.js';

/** The weights of red, green and blue in the luminance (ITU-R BT.709). They add up to 1. */
const LUMINANCE = [0.2126, 0.7152, 0.0722] as const;

type Row = [number, number, number];

/**
 * Blends an image with a version of itself whose colours are replaced by a gradient: from the shadow colour for black
 * to the highlight colour for white. Transparency is preserved.
 *
 * The gradient is a linear function of the luminance, and so is the blending, so sharp applies both as one matrix and
 * one offset. The image must not be resized in the same run: sharp would clip the result of the matrix before it adds
 * the offset.
 */
export function applyDuotone(
  image: Sharp,
  { highlight, shadow, opacity }: NonNullable<ImageTransform['duotone']>,
): Sharp {
  const part = opacity / 100;
  const [light, dark] = [parseHex('highlight', highlight), parseHex('shadow', shadow)];
  const row = (channel: 0 | 1 | 2): Row => {
    const slope = (part * (light[channel] - dark[channel])) / 255;
    const toned = LUMINANCE.map((weight) => slope * weight) as Row;
    toned[channel] += 1 - part;
    return toned;
  };
  // sharp truncates the result, so adding 0.5 rounds it.
  const offset = ([0, 1, 2] as const).map((channel) => part * dark[channel] + 0.5);
  return image.recomb([row(0), row(1), row(2)]).linear([1, 1, 1], offset);
}
