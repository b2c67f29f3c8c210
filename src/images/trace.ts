import type { TraceArguments } from './arguments.js';
import { requireWithin } from './bounds.js';
import { formatColour, parseColour } from './colours.js';

/** How outlines are drawn: every member named, so that equal meaning is equal. */
export interface TraceOptions {
  readonly turnPolicy: 'black' | 'white' | 'left' | 'right' | 'minority' | 'majority';
  readonly turdSize: number;
  readonly alphaMax: number;
  readonly optCurve: boolean;
  readonly optTolerance: number;
  /** -1 lets the picture decide. */
  readonly threshold: number;
  readonly blackOnWhite: boolean;
  /** Hexadecimal digits. */
  readonly color: string;
  /** Hexadecimal digits, or `transparent`. */
  readonly background: string;
}

/** Beyond 4/3 every corner is round. */
const MAX_ALPHA = 1.334;

/** Distances are in pixels, and no larger than a picture. */
const MAX_DISTANCE = 65_535;

/**
 * Reads the arguments of a trace.
 *
 * @throws AppError `invalid_input` that names the argument.
 */
export function toTraceOptions(args: TraceArguments): TraceOptions {
  requireWithin('traceSVG.turdSize', args.turdSize, { min: 0, max: 2 ** 32, whole: false });
  requireWithin('traceSVG.alphaMax', args.alphaMax, { min: 0, max: MAX_ALPHA, whole: false });
  requireWithin('traceSVG.optTolerance', args.optTolerance, { min: 0, max: MAX_DISTANCE, whole: false });
  requireWithin('traceSVG.threshold', args.threshold, { min: 0, max: 255 });
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

/** A drawing as a data URI that may stand in attributes in double quotes and in a `srcset`. */
export function toDataUri(svg: string): string {
  const text = svg.trim().replaceAll('"', "'").replace(/\s+/gu, ' ');
  const encoded = encodeURIComponent(text).replace(/%(?:2C|2F|3A|3D)/gu, decodeURIComponent);
  return `data:image/svg+xml,${encoded.replace(/%[0-9A-F]{2}/gu, (escape) => escape.toLowerCase())}`;
}
