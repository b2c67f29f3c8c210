import type { ImageArguments, ImageFormat, PreviewArguments, TraceArguments } from './arguments.js';
import { invalid, requireWithin } from './bounds.js';
import { outputOf } from './formats.js';
import type { Output } from './formats.js';
import type { InlineImages, ReadInline } from './inline-images.js';
import type { Links } from './links.js';
import { requireMakeable, toRecipe, writtenSize } from './recipe.js';
import type { Operations, Recipe } from './recipe.js';
import { fitFrame } from './sizes.js';
import type { Frame, Size } from './sizes.js';
import type { ImageSource } from './source.js';
import { toTraceOptions } from './trace.js';

/** An image that is linked to. */
export interface LinkedImage extends Size {
  readonly src: string;
  /** Before it is turned: what candidates are compared by. */
  readonly scaled: Size;
}

export interface DraftParts {
  readonly inline: InlineImages;
  /** Gives the link to an image, with the path that the site is served below. */
  readonly link: Links['format'];
}

/** A picture, what is to be done to it, and how large it is without its borders and turned as it will be. */
export interface Draft<Args extends ImageArguments> {
  readonly source: ImageSource;
  readonly size: Size;
  readonly operations: Operations;
  readonly args: Args;
}

/** Images inside an answer are there for a small preview; a megapixel is a megabyte of text. */
const MAX_INLINE_PIXELS = 2 ** 20;

/** What a thread traces in a second or two, and in ten where all of it is noise. */
const MAX_TRACED_PIXELS = 2 ** 22;

const MAX_PREVIEW_WIDTH = 512;
const PREVIEW_WIDTH = 20;

export const isWebp = ({ source, args }: Draft<ImageArguments>): boolean =>
  outputOf(source.ext, args.toFormat).format === 'webp';

/** Links to an image in a frame, in the format that the arguments name or in another. */
export function linkImage(
  { link }: DraftParts,
  draft: Draft<ImageArguments>,
  frame: Frame,
  toFormat: ImageFormat | null | undefined = draft.args.toFormat,
): LinkedImage {
  const { source } = draft;
  const output = outputOf(source.ext, toFormat);
  const recipe = recipeOf(draft, frame, output);
  const { name, contentDigest } = source;
  const src = link({ contentDigest, recipe, name, extension: output.extension });
  return { ...writtenSize(recipe), src, scaled: recipe };
}

function recipeOf({ size, operations, args }: Draft<ImageArguments>, frame: Frame, { format }: Output): Recipe {
  const recipe = toRecipe(fitFrame(size, frame, args.fit ?? 'COVER'), format, operations, args);
  requireMakeable(recipe, size);
  return recipe;
}

/** Works out what an image inside the answer is made by, once, when it is asked for. */
export function whenAsked(prepare: () => ReadInline): ReadInline {
  let read: ReadInline | undefined;
  return () => (read ??= prepare())();
}

/** Holds the arguments of a preview to their bounds. */
export const requirePreview = ({ base64Width }: PreviewArguments): void =>
  requireWithin('base64Width', base64Width, { min: 0, max: MAX_PREVIEW_WIDTH });

/** A tiny image of the proportions of another, inside the answer. */
export function previewOf(
  { inline }: DraftParts,
  draft: Draft<ImageArguments & PreviewArguments>,
  { scaled }: LinkedImage,
): ReadInline {
  const { base64Width, toFormatBase64, toFormat } = draft.args;
  // 0 means the same as nothing.
  const width = base64Width === 0 ? PREVIEW_WIDTH : (base64Width ?? PREVIEW_WIDTH);
  const height = Math.max(1, Math.round((width * scaled.height) / scaled.width));
  const own = toFormatBase64 && toFormatBase64 !== 'NO_CHANGE' ? toFormatBase64 : toFormat;
  const { background, cropFocus, fit } = draft.args;
  // Of the encoding, a preview takes the format alone.
  const args = { background, cropFocus, fit };
  return inlineImage(inline, { ...draft, args }, { width, height }, outputOf(draft.source.ext, own));
}

/** An image in a frame, inside the answer. */
export function inlineImage(
  inline: InlineImages,
  draft: Draft<ImageArguments>,
  frame: Frame,
  output = outputOf(draft.source.ext, draft.args.toFormat),
): ReadInline {
  const recipe = recipeOf(draft, frame, output);
  requirePixels(recipe, MAX_INLINE_PIXELS, 'an image inside the answer');
  return inline.base64(draft.source, recipe);
}

/** The outlines of the image in a frame, inside the answer. */
export function traceImage({ inline }: DraftParts, draft: Draft<ImageArguments>, frame: Frame): ReadInline {
  const { background, cropFocus, fit, traceSVG } = draft.args;
  const options = toTraceOptions(traceSVG ?? NO_ARGUMENTS);
  // Pixels go to the tracer as they are: how they would be encoded makes no other drawing.
  const recipe = recipeOf({ ...draft, args: { background, cropFocus, fit } }, frame, {
    format: 'png',
    extension: 'png',
  });
  requirePixels(recipe, MAX_TRACED_PIXELS, 'traced outlines');
  return inline.traced(draft.source, recipe, options);
}

const NO_ARGUMENTS: TraceArguments = {};

function requirePixels(recipe: Recipe, most: number, what: string): void {
  const { width, height } = writtenSize(recipe);
  if (width * height > most) throw invalid(`the size of ${what}`, `at most ${most} pixels`, `${width} × ${height}`);
}
