import type { Fit, FixedArguments, FluidArguments } from './arguments.js';

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The requested sides. A missing side follows from the other one and the proportions of the source. */
export interface Frame {
  readonly width?: number;
  readonly height?: number;
}

/** How an image is scaled to a size: stretched, cropped, or padded with a background. */
type Scaling = 'fill' | 'cover' | 'contain';

export interface Scaled extends Size {
  readonly scaling: Scaling;
}

/**
 * Returns the size and scaling of an image in a frame.
 *
 * The scaling is `cover` or `contain` only when the image must be cropped or padded. When the frame has the proportions
 * of the source, to the pixel, it is always `fill`, so that equal images get equal transforms.
 */
export function fitFrame(source: Size, frame: Frame, fit: Fit): Scaled {
  const size = atLeastOne(sizeIn(source, frame, fit));
  const isBound = frame.width !== undefined && frame.height !== undefined;
  const differs = isBound && (fit === 'COVER' || fit === 'CONTAIN') && !hasProportions(source, size);
  if (!differs) return { ...size, scaling: 'fill' };
  return { ...size, scaling: fit === 'COVER' ? 'cover' : 'contain' };
}

function sizeIn(source: Size, { width, height }: Frame, fit: Fit): Size {
  const ratio = source.width / source.height;
  switch (fit) {
    case 'FILL':
      return { width: width ?? source.width, height: height ?? source.height };
    case 'INSIDE':
      return {
        width: Math.min(width ?? Infinity, Math.round((height ?? Infinity) * ratio)),
        height: Math.min(height ?? Infinity, Math.round((width ?? Infinity) / ratio)),
      };
    case 'OUTSIDE':
      return {
        width: Math.max(width ?? 0, Math.round((height ?? 0) * ratio)),
        height: Math.max(height ?? 0, Math.round((width ?? 0) / ratio)),
      };
    case 'COVER':
    case 'CONTAIN':
      return {
        width: width ?? Math.round((height ?? source.height) * ratio),
        height: height ?? Math.round((width ?? source.width) / ratio),
      };
  }
}

/** Rounds sides of 0 up to 1: a line of 3000 × 1 pixels stays one pixel high at a width of 100. */
const atLeastOne = ({ width, height }: Size): Size => ({ width: Math.max(1, width), height: Math.max(1, height) });

function hasProportions(source: Size, { width, height }: Size): boolean {
  const ratio = source.width / source.height;
  return width === Math.round(height * ratio) || height === Math.round(width / ratio);
}

/** Returns the size of the bounding box of a rectangle that is rotated by whole degrees. */
export function rotateSize({ width, height }: Size, degrees: number): Size {
  if (degrees % 180 === 0) return { width, height };
  if (degrees % 90 === 0) return { width: height, height: width };
  const radians = (degrees * Math.PI) / 180;
  const [cos, sin] = [Math.abs(Math.cos(radians)), Math.abs(Math.sin(radians))];
  return { width: Math.round(width * cos + height * sin), height: Math.round(width * sin + height * cos) };
}

/**
 * Converts between the size as stored in the file and the size with the EXIF orientation applied, in either direction.
 */
export const sizeInFile = ({ width, height, orientation }: Size & { readonly orientation: number }): Size =>
  orientation < 5 ? { width, height } : { width: height, height: width };

const DEFAULT_FIXED_WIDTH = 400;
const DEFAULT_FLUID_WIDTH = 800;

/** Returns the frames of `fixed` for the densities 1, 1.5 and 2, without those that would enlarge the source. */
export function fixedFrames(source: Size, args: Pick<FixedArguments, 'width' | 'height'>): Frame[] {
  const [width, height] = [args.width ?? undefined, args.height ?? undefined];
  // An explicit null selects the width of the source.
  const defaultWidth = args.width === null ? source.width : DEFAULT_FIXED_WIDTH;
  const [name, side] = pickSide(width, height, defaultWidth);
  const sides = [side, side * 1.5, side * 2].filter((one) => one <= source[name]);
  return (sides.length > 0 ? sides : [source[name]]).map((one) => toFrame(name, one, ratioOf(width, height)));
}

/** Returns the frame of `resize`. */
export const resizeFrame = ({ width, height }: Pick<FixedArguments, 'width' | 'height'>): Frame =>
  width == null && height == null
    ? { width: DEFAULT_FIXED_WIDTH }
    : { width: width ?? undefined, height: height ?? undefined };

interface FluidFrames {
  /** Ascending; the largest has the size of the source. */
  readonly frames: readonly Frame[];
  /** The index of the frame for browsers without `srcset` support. */
  readonly fallback: number;
  /** The index of the frame that the page is laid out for. */
  readonly presented: number;
}

/** Returns the frames of `fluid`: the requested side, its fractions or the breakpoints, and the size of the source. */
export function fluidFrames(source: Size, args: FluidArguments): FluidFrames {
  const [width, height] = [args.maxWidth ?? undefined, args.maxHeight ?? undefined];
  const [name, side] = pickSide(width, height, DEFAULT_FLUID_WIDTH);
  const smaller = candidates(side, args).filter((candidate) => candidate < source[name]);
  const sides = [...smaller, source[name]].sort((one, other) => one - other);
  const ratio =
    args.fit === 'INSIDE' ? ratioOf(limit(width, source.width), limit(height, source.height)) : ratioOf(width, height);
  const frames = sides.map((one) => toFrame(name, one, ratio));
  // A fit within both sides may be smaller than its frame.
  const written = frames.map((frame) => sizeIn(source, frame, args.fit ?? 'COVER')[name]);
  return {
    frames,
    fallback: closestTo(side, written),
    presented: sides.indexOf(Math.min(side, source[name])),
  };
}

function candidates(side: number, { srcSetBreakpoints }: FluidArguments): number[] {
  const breakpoints = (srcSetBreakpoints ?? []).filter((one) => one !== null);
  return breakpoints.length > 0
    ? [...new Set([side, ...breakpoints])]
    : [side, side / 4, side / 2, side * 1.5, side * 2];
}

/** Returns the side that determines the candidates: the width, unless only the height is given. */
function pickSide(
  width: number | undefined,
  height: number | undefined,
  defaultWidth: number,
): ['width' | 'height', number] {
  if (width === undefined && height !== undefined) return ['height', height];
  return ['width', width ?? defaultWidth];
}

/** Returns height / width if both are given. */
const ratioOf = (width: number | undefined, height: number | undefined): number | undefined =>
  width === undefined || height === undefined ? undefined : height / width;

const limit = (side: number | undefined, max: number): number | undefined => side && Math.min(side, max);

function toFrame(name: 'width' | 'height', side: number, ratio: number | undefined): Frame {
  const frame = { [name]: Math.max(1, Math.round(side)) };
  return ratio === undefined ? frame : { ...frame, height: Math.max(1, Math.round(side * ratio)) };
}

/** Returns the index of the closest side; the smaller one on a tie. */
function closestTo(side: number, ascending: readonly number[]): number {
  const distances = ascending.map((one) => Math.abs(side - one));
  return distances.indexOf(Math.min(...distances));
}

/** A rectangle in an image, in pixels from the top left corner. */
export interface Box extends Size {
  readonly left: number;
  readonly top: number;
}

/** Converts a box from the pixels as stored in the file to the image with its EXIF orientation (1 to 8) applied. */
export function orientBox(box: Box, file: Size, orientation: number): Box {
  const { left, top, width, height } = box;
  const [right, bottom] = [file.width - left - width, file.height - top - height];
  const turned = { width: height, height: width };
  switch (orientation) {
    case 2:
      return { ...box, left: right };
    case 3:
      return { ...box, left: right, top: bottom };
    case 4:
      return { ...box, top: bottom };
    case 5:
      return { ...turned, left: top, top: left };
    case 6:
      return { ...turned, left: bottom, top: left };
    case 7:
      return { ...turned, left: bottom, top: right };
    case 8:
      return { ...turned, left: top, top: right };
    default:
      return box;
  }
}
