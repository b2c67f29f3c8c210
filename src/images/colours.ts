import sharp from 'sharp';
import type { Sharp } from 'sharp';
import { invalid } from './bounds.js';

/** Red, green, blue and opacity, each 0 to 255. */
export type Colour = readonly [number, number, number, number];

/** The longest notation of a colour has some fifty characters. */
const MAX_TEXT = 100;

/**
 * Reads a colour in any notation of CSS: a name, hexadecimal digits, `rgb()`, `hsl()`.
 *
 * @throws AppError `invalid_input` that names the argument.
 */
export function parseColour(name: string, text: string): Colour {
  const parsed = text.length > MAX_TEXT ? undefined : parse(text.trim().toLowerCase());
  if (parsed === undefined) throw invalid(name, 'a colour of CSS', text);
  const [red, green, blue, alpha] = parsed.map(Math.round) as [number, number, number, number];
  // All that can't be seen is the same colour.
  return alpha === 0 ? [0, 0, 0, 0] : [red, green, blue, alpha];
}

/**
 * By sharp's own parser, so that what is accepted here is what it can draw. It
 * is reached through an image that is never made.
 */
function parse(text: string): readonly number[] | undefined {
  try {
    const image = sharp({ create: { width: 1, height: 1, channels: 4, background: text } });
    // Sharp's declarations leave out what it was told.
    return (image as Sharp & { options: { input: { createBackground: number[] } } }).options.input.createBackground;
  } catch {
    return undefined;
  }
}

/** Hexadecimal digits: six, or eight where the colour lets something through. */
export function formatColour([red, green, blue, alpha]: Colour): string {
  const parts = alpha === 255 ? [red, green, blue] : [red, green, blue, alpha];
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

/** Reads six hexadecimal digits, with or without their `#`; nothing else is a colour of a gradient. */
export function parseHex(name: string, text: string): Colour {
  const [, digits] = /^#?([0-9a-f]{6})$/iu.exec(text) ?? [];
  if (digits === undefined) throw invalid(name, 'six hexadecimal digits, such as "#192550"', text);
  const [red, green, blue] = [0, 2, 4].map((at) => Number.parseInt(digits.slice(at, at + 2), 16));
  return [red ?? 0, green ?? 0, blue ?? 0, 255];
}
