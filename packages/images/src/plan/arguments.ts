import { createRequire } from 'node:module';
import { AppError } from '@trellis/core/errors';
import type sharp from 'sharp';
import type { Sharp } from 'sharp';

/** The arguments that all image fields share, named as in the schema. Null and absent arguments take their defaults. */
export interface ImageArguments {
  readonly background?: string | null;
  readonly cropFocus?: CropFocus | null;
  readonly duotone?: Duotone | null;
  readonly fit?: Fit | null;
  readonly grayscale?: boolean | null;
  readonly jpegProgressive?: boolean | null;
  readonly jpegQuality?: number | null;
  readonly pngQuality?: number | null;
  readonly webpQuality?: number | null;
  readonly quality?: number | null;
  readonly pngCompressionLevel?: number | null;
  readonly pngCompressionSpeed?: number | null;
  readonly rotate?: number | null;
  readonly toFormat?: ImageFormat | null;
  readonly traceSVG?: TraceArguments | null;
  readonly trim?: number | null;
}

export interface FixedArguments extends ImageArguments, PreviewArguments {
  readonly width?: number | null;
  readonly height?: number | null;
}

export interface FluidArguments extends ImageArguments, PreviewArguments {
  readonly maxWidth?: number | null;
  readonly maxHeight?: number | null;
  readonly sizes?: string | null;
  readonly srcSetBreakpoints?: readonly (number | null)[] | null;
}

export interface ResizeArguments extends ImageArguments {
  readonly width?: number | null;
  readonly height?: number | null;
  readonly base64?: boolean | null;
}

export interface PreviewArguments {
  readonly base64Width?: number | null;
  readonly toFormatBase64?: ImageFormat | null;
}

export interface Duotone {
  readonly highlight: string;
  readonly shadow: string;
  readonly opacity?: number | null;
}

export interface TraceArguments {
  readonly turnPolicy?: TurnPolicy | null;
  readonly turdSize?: number | null;
  readonly alphaMax?: number | null;
  readonly optCurve?: boolean | null;
  readonly optTolerance?: number | null;
  readonly threshold?: number | null;
  readonly blackOnWhite?: boolean | null;
  readonly color?: string | null;
  readonly background?: string | null;
}

export type CropFocus =
  | 'ATTENTION'
  | 'CENTER'
  | 'EAST'
  | 'ENTROPY'
  | 'NORTH'
  | 'NORTHEAST'
  | 'NORTHWEST'
  | 'SOUTH'
  | 'SOUTHEAST'
  | 'SOUTHWEST'
  | 'WEST';

export type Fit = 'CONTAIN' | 'COVER' | 'FILL' | 'INSIDE' | 'OUTSIDE';

export type ImageFormat = 'AVIF' | 'JPG' | 'NO_CHANGE' | 'PNG' | 'WEBP';

type TurnPolicy =
  | 'TURNPOLICY_BLACK'
  | 'TURNPOLICY_WHITE'
  | 'TURNPOLICY_LEFT'
  | 'TURNPOLICY_RIGHT'
  | 'TURNPOLICY_MINORITY'
  | 'TURNPOLICY_MAJORITY';

/** The longest side that a JPEG can have; the limit of every length argument. */
const MAX_SIDE = 65_535;

interface Range {
  readonly min: number;
  readonly max: number;
  readonly whole?: boolean;
}

/**
 * Validates a number argument. Null and absent values are valid.
 *
 * @throws AppError `invalid_input` that names the argument.
 */
export function assertWithin(name: string, value: number | null | undefined, { min, max, whole = true }: Range): void {
  if (value === null || value === undefined) return;
  if (value >= min && value <= max && (!whole || Number.isInteger(value))) return;
  throw invalidArgument(name, `${whole ? 'a whole number' : 'a number'} from ${min} to ${max}`, value);
}

export function assertSides(sides: Readonly<Record<string, number | null | undefined>>): void {
  for (const [name, value] of Object.entries(sides)) assertWithin(name, value, { min: 1, max: MAX_SIDE });
}

/** Returns an `invalid_input` error that states the argument, its rule and the first 100 characters of its value. */
export function invalidArgument(name: string, expected: string, received: unknown): AppError {
  const shown = typeof received === 'string' ? JSON.stringify(received) : String(received);
  const message = `Expected ${name} to be ${expected}; received ${shown.slice(0, 100)}.`;
  return new AppError('invalid_input', message, { field: name });
}

/** Red, green, blue and opacity, each 0 to 255. */
type Colour = readonly [number, number, number, number];

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
  const draw = loadSharp();
  try {
    const image = draw({ create: { width: 1, height: 1, channels: 4, background: text } });
    // sharp's type declarations omit its parsed options.
    return (image as Sharp & { options: { input: { createBackground: number[] } } }).options.input.createBackground;
  } catch {
    return undefined;
  }
}

const requireModule = createRequire(import.meta.url);

/**
 * Returns sharp, which is loaded by the first call: programs that import this file but open no images do without it.
 */
export const loadSharp = (): typeof sharp => requireModule('sharp') as typeof sharp;

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

/** How outlines are traced. All members are set, so that arguments with the same meaning give equal options. */
export interface TraceOptions {
  readonly turnPolicy: 'black' | 'white' | 'left' | 'right' | 'minority' | 'majority';
  readonly turdSize: number;
  readonly alphaMax: number;
  readonly optCurve: boolean;
  readonly optTolerance: number;
  /** 0 to 255; -1 derives the threshold from the image. */
  readonly threshold: number;
  readonly blackOnWhite: boolean;
  /** `#` and hexadecimal digits. */
  readonly color: string;
  /** `#` and hexadecimal digits, or `transparent`. */
  readonly background: string;
}

/** From 4/3 on, every corner is rounded. */
const MAX_ALPHA = 1.334;

/** Distances are in pixels, and no longer than the side of an image. */
const MAX_DISTANCE = 65_535;

/**
 * Converts the arguments of a trace to options.
 *
 * @throws AppError `invalid_input` that names the argument.
 */
export function toTraceOptions(args: TraceArguments): TraceOptions {
  assertWithin('traceSVG.turdSize', args.turdSize, { min: 0, max: 2 ** 32, whole: false });
  assertWithin('traceSVG.alphaMax', args.alphaMax, { min: 0, max: MAX_ALPHA, whole: false });
  assertWithin('traceSVG.optTolerance', args.optTolerance, { min: 0, max: MAX_DISTANCE, whole: false });
  assertWithin('traceSVG.threshold', args.threshold, { min: 0, max: 255 });
  const policy = args.turnPolicy ?? 'TURNPOLICY_MAJORITY';
  return {
    turnPolicy: policy.slice('TURNPOLICY_'.length).toLowerCase() as TraceOptions['turnPolicy'],
    turdSize: args.turdSize ?? 100,
    alphaMax: args.alphaMax ?? 1,
    optCurve: args.optCurve ?? true,
    optTolerance: args.optTolerance ?? 0.4,
    threshold: args.threshold ?? -1,
    blackOnWhite: args.blackOnWhite ?? true,
    color: formatColour(parseColour('traceSVG.color', args.color ?? 'lightgray')),
    background: toBackground(args.background),
  };
}

function toBackground(text: string | null | undefined): string {
  if (text === null || text === undefined) return 'transparent';
  const colour = parseColour('traceSVG.background', text);
  return colour[3] === 0 ? 'transparent' : formatColour(colour);
}
