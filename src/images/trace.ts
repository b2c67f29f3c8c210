import type { TraceArguments } from './arguments.js';
import { assertWithin } from './bounds.js';
import { formatColour, parseColour } from './colours.js';

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

/** Encodes an SVG document as a data URI that is safe in double-quoted attributes and in a `srcset`. */
export function toDataUri(svg: string): string {
  const text = svg.trim().replaceAll('"', "'").replace(/\s+/gu, ' ');
  const encoded = encodeURIComponent(text).replace(/%(?:2C|2F|3A|3D)/gu, decodeURIComponent);
  return `data:image/svg+xml,${encoded.replace(/%[0-9A-F]{2}/gu, (escape) => escape.toLowerCase())}`;
}
