import type { ImageSource } from '../source.js';
import {
  assertWithin,
  type ImageArguments,
  type ImageFormat,
  invalidArgument,
  type PreviewArguments,
  toTraceOptions,
  type TraceArguments,
  type TraceOptions,
} from './arguments.js';
import type { Links } from './links.js';
import { fitFrame, type Frame, type Size } from './sizes.js';
import {
  assertRenderable,
  canHoldFrames,
  type ImageTransform,
  type Operations,
  type Output,
  outputSize,
  toOutput,
  toTransform,
} from './transform.js';

/** A derived image and its link. */
export interface LinkedImage extends Size {
  readonly src: string;
  /** The size before rotation. */
  readonly scaled: Size;
}

/** Reads an inline image, synchronously when it is cached. Nothing is read or rendered before the call. */
export type InlineImageReader = () => string | Promise<string>;

/** Inline images as data URIs. Each is rendered once and stored by its source digest and transform. */
export interface InlineImages {
  base64(source: ImageSource, recipe: ImageTransform): InlineImageReader;
  traced(source: ImageSource, recipe: ImageTransform, options: TraceOptions): InlineImageReader;
}

export interface ImageFieldDependencies {
  readonly inline: InlineImages;
  /** Returns the link to an image, including the path that the site is served under. */
  readonly link: Links['format'];
}

/** The input of one image field: a source image, and the transforms requested of it. */
export interface ImageRequest<Args extends ImageArguments> {
  readonly source: ImageSource;
  /** The size of the source after its trim and EXIF orientation. */
  readonly size: Size;
  readonly operations: Operations;
  readonly args: Args;
  /** Whether the source is an animated WEBP. */
  readonly isAnimated?: boolean;
}

/** Inline images are meant for small previews; one megapixel is about a megabyte of text. */
const MAX_INLINE_PIXELS = 2 ** 20;

/** Tracing this many pixels takes a thread one or two seconds, and ten if the image is noise. */
const MAX_TRACED_PIXELS = 2 ** 22;

const MAX_PREVIEW_WIDTH = 512;
const PREVIEW_WIDTH = 20;

const isWebp = ({ source, args }: ImageRequest<ImageArguments>): boolean =>
  toOutput(source.ext, args.toFormat).format === 'webp';

/** Returns the link to the image in a frame, in the format of the arguments unless `toFormat` overrides it. */
export function linkImage(
  { link }: ImageFieldDependencies,
  draft: ImageRequest<ImageArguments>,
  frame: Frame,
  toFormat: ImageFormat | null | undefined = draft.args.toFormat,
): LinkedImage {
  const { source } = draft;
  const output = toOutput(source.ext, toFormat);
  const recipe = withFrames(toFrameRecipe(draft, frame, output), draft);
  const { name, contentDigest } = source;
  const src = link({ contentDigest, transform: recipe, name, extension: output.extension });
  return { ...outputSize(recipe), src, scaled: recipe };
}

/** Marks a transform that keeps the frames of an animated WEBP: its links differ from those to the first frame alone. */
const withFrames = (recipe: ImageTransform, { isAnimated }: Pick<ImageRequest<ImageArguments>, 'isAnimated'>) =>
  isAnimated && canHoldFrames(recipe) ? { ...recipe, animated: true as const } : recipe;

function toFrameRecipe(
  { size, operations, args }: ImageRequest<ImageArguments>,
  frame: Frame,
  { format }: Output,
): ImageTransform {
  const recipe = toTransform(fitFrame(size, frame, args.fit ?? 'COVER'), format, operations, args);
  assertRenderable(recipe, size);
  return recipe;
}

/** Defers `prepare` to the first read of an inline image. Later reads reuse its result. */
export function lazy(prepare: () => InlineImageReader): InlineImageReader {
  let read: InlineImageReader | undefined;
  return () => (read ??= prepare())();
}

/** @throws AppError `invalid_input` that names the argument. */
export const assertPreview = ({ base64Width }: PreviewArguments): void =>
  assertWithin('base64Width', base64Width, { min: 0, max: MAX_PREVIEW_WIDTH });

/** Returns a tiny inline image with the proportions of a linked one. */
export function toPreview(
  { inline }: ImageFieldDependencies,
  draft: ImageRequest<ImageArguments & PreviewArguments>,
  { scaled }: LinkedImage,
): InlineImageReader {
  const { base64Width, toFormatBase64, toFormat } = draft.args;
  // 0 selects the default.
  const width = base64Width === 0 ? PREVIEW_WIDTH : (base64Width ?? PREVIEW_WIDTH);
  const height = Math.max(1, Math.round((width * scaled.height) / scaled.width));
  const previewFormat = toFormatBase64 && toFormatBase64 !== 'NO_CHANGE' ? toFormatBase64 : toFormat;
  const { background, cropFocus, fit } = draft.args;
  // Previews ignore the encoding arguments except the format.
  const args = { background, cropFocus, fit };
  return toInlineImage(inline, { ...draft, args }, { width, height }, toOutput(draft.source.ext, previewFormat));
}

/** Returns the image in a frame as an inline image. */
export function toInlineImage(
  inline: InlineImages,
  draft: ImageRequest<ImageArguments>,
  frame: Frame,
  output = toOutput(draft.source.ext, draft.args.toFormat),
): InlineImageReader {
  const recipe = toFrameRecipe(draft, frame, output);
  assertPixels(recipe, MAX_INLINE_PIXELS, 'an inline image');
  return inline.base64(draft.source, recipe);
}

/** Returns the traced outlines of the image in a frame, as an inline image. */
export function toInlineTrace(
  { inline }: ImageFieldDependencies,
  draft: ImageRequest<ImageArguments>,
  frame: Frame,
): InlineImageReader {
  const { background, cropFocus, fit, traceSVG } = draft.args;
  const options = toTraceOptions(traceSVG ?? NO_ARGUMENTS);
  // The tracer reads raw pixels, so encoding arguments must not lead to a different cache entry.
  const recipe = toFrameRecipe({ ...draft, args: { background, cropFocus, fit } }, frame, {
    format: 'png',
    extension: 'png',
  });
  assertPixels(recipe, MAX_TRACED_PIXELS, 'traced outlines');
  return inline.traced(draft.source, recipe, options);
}

const NO_ARGUMENTS: TraceArguments = {};

function assertPixels(recipe: ImageTransform, max: number, subject: string): void {
  const { width, height } = outputSize(recipe);
  if (width * height > max)
    throw invalidArgument(`the size of ${subject}`, `at most ${max} pixels`, `${width} × ${height}`);
}

/** One image in several sizes, and in WEBP. Members that need pixels or further links are functions. */
export interface SourceSet extends WebpSet {
  readonly aspectRatio: number;
  readonly originalName: string;
  readonly src: string;
  readonly srcSet: string;
  readonly base64: InlineImageReader;
  readonly tracedSVG: InlineImageReader;
}

/** Null if the images are already in WEBP. */
interface WebpSet {
  readonly srcWebp: () => string | null;
  readonly srcSetWebp: () => string | null;
}

interface SetShape {
  readonly frames: readonly Frame[];
  /** The index of the frame that `src` links to. */
  readonly shown: number;
  readonly toSrcSet: (images: readonly LinkedImage[]) => string;
}

/** Returns the WEBP versions of a set of images. Their links are issued when a query selects them. */
export function toWebpSet(
  parts: ImageFieldDependencies,
  draft: ImageRequest<ImageArguments>,
  { frames, ...shape }: SetShape,
): WebpSet {
  let known: readonly LinkedImage[] | undefined;
  const link = (): readonly LinkedImage[] =>
    (known ??= isWebp(draft) ? [] : frames.map((frame) => linkImage(parts, draft, frame, 'WEBP')));
  return { srcWebp: () => link()[shape.shown]?.src ?? null, srcSetWebp: () => shape.toSrcSet(link()) || null };
}
