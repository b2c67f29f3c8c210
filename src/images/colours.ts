import sharp from 'sharp';
import type { Sharp } from 'sharp';
import { invalidArgument } from './bounds.js';

/** Red, green, blue and opacity, each 0 to 255. */
export type Colour = readonly [number, number, number, number];

/** The longest CSS notation of a colour has about fifty characters. */
const MAX_TEXT = 100;

/**
 * Parses a colour in any CSS notation: a name, hexadecimal digits, `rgb()` or `hsl()`.
 *
 * @throws AppError `invalid_input` that names the argument.
 */
export function parseColour(name: string, text: string): Colour {
  const parsed = text.length > MAX_TEXT ? undefined : parse(text.trim().toLowerCase());
  if (parsed === undefined) throw invalidArgument(name, 'a CSS colour', text);
  const [red, green, blue, alpha] = parsed.map(Math.round) as [number, number, number, number];
  // All fully transparent colours are equal.
  return alpha === 0 ? [0, 0, 0, 0] : [red, green, blue, alpha];
}

/**
 * Parses with sharp's own parser, so that exactly the colours that sharp can draw are accepted. The parser is only
 * reachable through an image, which is never rendered.
 */
function parse(text: string): readonly number[] | undefined {
  try {
    const image = sharp({ create: { width: 1, height: 1, channels: 4, background: text } });
    // sharp's type declarations omit its parsed options.
    return (image as Sharp & { options: { input: { createBackground: number[] } } }).options.input.createBackground;
  } catch {
    return undefined;
  }
}

/** Formats a colour as `#` and six hexadecimal digits, or eight if it is not opaque. */
export function formatColour([red, green, blue, alpha]: Colour): string {
  const parts = alpha === 255 ? [red, green, blue] : [red, green, blue, alpha];
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

/**
 * Parses a colour of a duotone gradient: six hexadecimal digits, with or without `#`.
 *
 * @throws AppError `invalid_input` that names the argument.
 */
export function parseHex(name: string, text: string): Colour {
  const [, digits] = /^#?([0-9a-f]{6})$/iu.exec(text) ?? [];
  if (digits === undefined) throw invalidArgument(name, 'six hexadecimal digits, such as "#192550"', text);
  const [red, green, blue] = [0, 2, 4].map((at) => Number.parseInt(digits.slice(at, at + 2), 16));
  return [red ?? 0, green ?? 0, blue ?? 0, 255];
}
