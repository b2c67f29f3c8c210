import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ImageMetadata, ImageSource } from '../source.js';
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
import { fitFrame, type Frame, type Size } from './sizes.js';
import {
  assertRenderable,
  canHoldFrames,
  canHoldSides,
  findOutputFormat,
  getPipelineVersion,
  type ImageTransform,
  type Operations,
  type Output,
  type OutputFormat,
  outputSize,
  toOutput,
  toTransform,
} from './transform.js';

/** A derived image: the digest of its source file, and its transform. */
export interface DerivedImage {
  readonly contentDigest: string;
  readonly transform: ImageTransform;
}

interface ImageName {
  /** The source's file name without its extension. It makes links readable and is not signed. */
  readonly name: string;
  /** The extension of the derived image, without a dot. */
  readonly extension: string;
}

/**
 * Image links, which carry their transform and its signature. No table is needed to serve a link, and only links that
 * this site issued are accepted.
 */
export interface Links {
  /**
   * Returns the path below `/static`: `/<content digest>/<signature>_<transform>/<percent-encoded name>.<extension>`.
   */
  format(image: DerivedImage & ImageName): string;
  /** The inverse of `format`; returns `undefined` for any path that was not issued with this key. */
  parse(path: string): (DerivedImage & ImageName) | undefined;
}

/** 96 bits in base64url, as each guess costs an attacker an HTTP request. */
const SIGNATURE_LENGTH = 16;

const LINK = new RegExp(`^/([0-9a-f]{32})/([\\w-]{${SIGNATURE_LENGTH}})_([\\w.-]{1,200})/([^/?]+)\\.([a-z]+)$`, 'u');

/** @param key At least 32 random bytes. Links that were issued with a different key are invalid. */
export function createLinks(key: Uint8Array): Links {
  const sign = (text: string): string =>
    createHmac('sha256', key).update(text).digest('base64url').slice(0, SIGNATURE_LENGTH);

  return {
    format({ contentDigest, transform, name, extension }) {
      const text = formatTransformText(transform);
      const signature = sign(`${contentDigest}/${transform.format}/${text}`);
      return `/${contentDigest}/${signature}_${text}/${encodeURIComponent(name)}.${extension}`;
    },
    parse(path) {
      const [, contentDigest = '', signature = '', text = '', encodedName = '', extension = ''] = LINK.exec(path) ?? [];
      const format = findOutputFormat(extension);
      const name = decodeSegment(encodedName);
      if (format === undefined || !name) return undefined;
      const expected = sign(`${contentDigest}/${format}/${text}`);
      if (!timingSafeEqual(Buffer.from(signature), Buffer.from(expected))) return undefined;
      return { contentDigest, transform: parseTransformText(text, format), name, extension };
    },
  };
}

/**
 * Formats a transform for a link: the pipeline version, then one letter and value per member, such as
 * `v1_w800_h600_q50_p1`. Common values are omitted. The format is not included: it is the extension of the link.
 */
export function formatTransformText(recipe: ImageTransform): string {
  const { duotone, background, focus } = recipe;
  const members = {
    v: getPipelineVersion(recipe),
    w: recipe.width,
    h: recipe.height,
    s: recipe.scaling === 'fill' ? undefined : recipe.scaling,
    f: focus?.toLowerCase(),
    b: background && withoutHash(background),
    o: recipe.orient ? undefined : 0,
    r: recipe.rotate,
    t: recipe.trim,
    g: recipe.grayscale && 1,
    d: duotone && [withoutHash(duotone.highlight), withoutHash(duotone.shadow), duotone.opacity].join('-'),
    q: recipe.quality,
    p: recipe.progressive === undefined ? undefined : Number(recipe.progressive),
    c: recipe.compressionLevel,
    e: recipe.speed,
    a: recipe.animated && 1,
  };
  return Object.entries(members)
    .flatMap(([letter, value]) => (value === undefined ? [] : [`${letter}${value}`]))
    .join('_');
}

/** The inverse of {@link formatTransformText}. The text is not validated, so callers verify its signature first. */
export function parseTransformText(text: string, format: OutputFormat): ImageTransform {
  const members = new Map(text.split('_').map((member) => [member[0], member.slice(1)]));
  const number = (letter: string): number | undefined => {
    const value = members.get(letter);
    return value === undefined ? undefined : Number(value);
  };
  const [highlight, shadow, opacity] = members.get('d')?.split('-') ?? [];
  const background = members.get('b');
  const progressive = number('p');
  const all = {
    format,
    width: number('w'),
    height: number('h'),
    scaling: members.get('s') ?? 'fill',
    focus: members.get('f')?.toUpperCase(),
    background: background && `#${background}`,
    orient: members.get('o') !== '0',
    rotate: number('r'),
    trim: number('t'),
    grayscale: members.has('g') || undefined,
    duotone: highlight && { highlight: `#${highlight}`, shadow: `#${shadow}`, opacity: Number(opacity) },
    quality: number('q'),
    progressive: progressive === undefined ? undefined : progressive === 1,
    compressionLevel: number('c'),
    speed: number('e'),
    animated: members.has('a') || undefined,
  };
  // The verified signature guarantees that the text was formatted from a transform.
  return Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== undefined),
  ) as unknown as ImageTransform;
}

const withoutHash = (colour: string): string => colour.replace('#', '');

/** The unchanged source image. */
export interface OriginalImage {
  /** In pixels, with the EXIF orientation applied. */
  readonly width: number;
  readonly height: number;
  readonly src: string;
}

/** @param toUrl Returns the URL of a percent-encoded path below `/static`. */
export const toOriginal = (
  source: ImageSource,
  metadata: ImageMetadata,
  toUrl: (path: string) => string,
): OriginalImage => ({
  width: metadata.width,
  height: metadata.height,
  src: toUrl(`/${formatOriginalName(source)}`),
});

/** Formats the last segment of the link to an original: `<name>-<digest><ext>`, percent-encoded. */
export const formatOriginalName = ({ name, contentDigest, ext }: OriginalName): string =>
  encodeURIComponent(`${name}-${contentDigest}${ext}`);

type OriginalName = Pick<ImageSource, 'name' | 'contentDigest' | 'ext'>;

/** The inverse of {@link formatOriginalName}; returns `undefined` for a segment of any other form. */
export function parseOriginalName(segment: string): OriginalName | undefined {
  const [, name, contentDigest, ext] = /^(.+)-([0-9a-f]{32})(\.[^./]*)?$/su.exec(decodeSegment(segment) ?? '') ?? [];
  return name === undefined || contentDigest === undefined ? undefined : { name, contentDigest, ext: ext ?? '' };
}

/** Decodes a percent-encoded path segment; returns `undefined` for malformed text. */
function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

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

/** Returns whether the format of an image can hold its sides: those of a panorama may be too long. */
export function canLinkImage(
  { source, size, operations, args }: ImageRequest<ImageArguments>,
  frame: Frame,
  toFormat: ImageFormat | null | undefined = args.toFormat,
): boolean {
  const scaled = fitFrame(size, frame, args.fit ?? 'COVER');
  return canHoldSides(toOutput(source.ext, toFormat).format, outputSize({ ...scaled, ...operations }));
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
