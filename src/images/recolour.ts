import type { Sharp } from 'sharp';
import { parseHex } from './colours.js';
import type { Recipe } from './recipe.js';

/** How bright each primary looks; of a white of 255, 255. */
const LUMINANCE = [0.2126, 0.7152, 0.0722] as const;

type Row = [number, number, number];

/**
 * Replaces colours by a gradient from the shadow's (black) to the highlight's
 * (white), laid over the image with the opacity. Transparency stays.
 *
 * Each colour of the gradient is a line through the brightness, and laying it
 * over is another: so all of it is one matrix and one offset, for sharp to
 * apply. The image must not be resized in the same run, where sharp would clip
 * what the matrix gives before the offset is added.
 */
export function applyDuotone(image: Sharp, { highlight, shadow, opacity }: NonNullable<Recipe['duotone']>): Sharp {
  const part = opacity / 100;
  const [light, dark] = [parseHex('highlight', highlight), parseHex('shadow', shadow)];
  const row = (channel: 0 | 1 | 2): Row => {
    const slope = (part * (light[channel] - dark[channel])) / 255;
    const toned = LUMINANCE.map((weight) => slope * weight) as Row;
    toned[channel] += 1 - part;
    return toned;
  };
  // Sharp cuts what is behind the point, so half of one more rounds.
  const offset = ([0, 1, 2] as const).map((channel) => part * dark[channel] + 0.5);
  return image.recomb([row(0), row(1), row(2)]).linear([1, 1, 1], offset);
}
