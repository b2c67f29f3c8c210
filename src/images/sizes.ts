import type { FixedArguments, FluidArguments, Fit } from './arguments.js';

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The sides that are asked for; one of them may follow from the other. */
export interface Frame {
  readonly width?: number | undefined;
  readonly height?: number | undefined;
}

/** How a picture is brought to a size: stretched, cut off, or with something behind it. */
export type Scaling = 'fill' | 'cover' | 'contain';

export interface Scaled extends Size {
  readonly scaling: Scaling;
}

/**
 * The size that a picture is brought to in a frame, by how it is to fit.
 *
 * Only where it must be cut off or filled up is it `cover` or `contain`; where
 * the proportions are its own, to the pixel, all ways of fitting are the same.
 */
export function fitFrame(source: Size, frame: Frame, fit: Fit): Scaled {
  const size = atLeastOne(sizeIn(source, frame, fit));
  const isBound = frame.width !== undefined && frame.height !== undefined;
  const mustCut = isBound && (fit === 'COVER' || fit === 'CONTAIN') && !hasProportions(source, size);
  if (!mustCut) return { ...size, scaling: 'fill' };
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

/** A line of 3000 × 1 pixels is still one pixel high when it is 100 wide. */
const atLeastOne = ({ width, height }: Size): Size => ({ width: Math.max(1, width), height: Math.max(1, height) });

function hasProportions(source: Size, { width, height }: Size): boolean {
  const ratio = source.width / source.height;
  return width === Math.round(height * ratio) || height === Math.round(width / ratio);
}

/** Turns a size clockwise by whole degrees: the box around what was turned. */
export function turnSize({ width, height }: Size, degrees: number): Size {
  if (degrees % 180 === 0) return { width, height };
  if (degrees % 90 === 0) return { width: height, height: width };
  const radians = (degrees * Math.PI) / 180;
  const [cos, sin] = [Math.abs(Math.cos(radians)), Math.abs(Math.sin(radians))];
  return { width: Math.round(width * cos + height * sin), height: Math.round(width * sin + height * cos) };
}

/** How large a picture is as it lies in its file, before it is turned as EXIF says; and back. */
export const lyingSize = ({ width, height, orientation }: Size & { readonly orientation: number }): Size =>
  orientation < 5 ? { width, height } : { width: height, height: width };

const DEFAULT_FIXED_WIDTH = 400;
const DEFAULT_FLUID_WIDTH = 800;

/** The frames of `fixed` for the densities 1, 1.5 and 2, as far as the picture has pixels for them. */
export function fixedFrames(source: Size, args: Pick<FixedArguments, 'width' | 'height'>): Frame[] {
  const [width, height] = [args.width ?? undefined, args.height ?? undefined];
  // Written out as null, the width is that of the picture.
  const lone = args.width === null ? source.width : DEFAULT_FIXED_WIDTH;
  const [name, side] = pickSide(width, height, lone);
  const sides = [side, side * 1.5, side * 2].filter((one) => one <= source[name]);
  return (sides.length > 0 ? sides : [source[name]]).map((one) => toFrame(name, one, ratioOf(width, height)));
}

/** The frame of `resize`. */
export const resizeFrame = ({ width, height }: Pick<FixedArguments, 'width' | 'height'>): Frame =>
  width == null && height == null
    ? { width: DEFAULT_FIXED_WIDTH }
    : { width: width ?? undefined, height: height ?? undefined };

export interface FluidFrames {
  /** Ascending; the widest is that of the picture itself. */
  readonly frames: readonly Frame[];
  /** Of `frames`: the one to show where a browser knows no better, and the one that the page is laid out for. */
  readonly fallback: number;
  readonly presented: number;
}

/** The frames of `fluid`: the wished side, fractions of it or breakpoints, and the picture itself. */
export function fluidFrames(source: Size, args: FluidArguments): FluidFrames {
  const [width, height] = [args.maxWidth ?? undefined, args.maxHeight ?? undefined];
  const [name, side] = pickSide(width, height, DEFAULT_FLUID_WIDTH);
  const wished = candidates(side, args).filter((one) => one < source[name]);
  const sides = [...wished, source[name]].sort((one, other) => one - other);
  const ratio =
    args.fit === 'INSIDE' ? ratioOf(cut(width, source.width), cut(height, source.height)) : ratioOf(width, height);
  return {
    frames: sides.map((one) => toFrame(name, one, ratio)),
    fallback: closestTo(side, sides.map(Math.round)),
    presented: sides.indexOf(Math.min(side, source[name])),
  };
}

function candidates(side: number, { srcSetBreakpoints }: FluidArguments): number[] {
  const breakpoints = (srcSetBreakpoints ?? []).filter((one) => one !== null);
  return breakpoints.length > 0
    ? [...new Set([side, ...breakpoints])]
    : [side, side / 4, side / 2, side * 1.5, side * 2];
}

/** The side that candidates are counted in: the width, unless only the height is named. */
function pickSide(width: number | undefined, height: number | undefined, lone: number): ['width' | 'height', number] {
  if (width === undefined && height !== undefined) return ['height', height];
  return ['width', width ?? lone];
}

/** Height by width where both are bound. */
const ratioOf = (width: number | undefined, height: number | undefined): number | undefined =>
  width === undefined || height === undefined ? undefined : height / width;

const cut = (side: number | undefined, to: number): number | undefined => side && Math.min(side, to);

function toFrame(name: 'width' | 'height', side: number, ratio: number | undefined): Frame {
  const frame = { [name]: Math.max(1, Math.round(side)) };
  return ratio === undefined ? frame : { ...frame, height: Math.max(1, Math.round(side * ratio)) };
}

/** The smaller on a tie. */
function closestTo(side: number, ascending: readonly number[]): number {
  const distances = ascending.map((one) => Math.abs(side - one));
  return distances.indexOf(Math.min(...distances));
}
