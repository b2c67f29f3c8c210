import { LRUCache } from 'lru-cache';
import type { ImageMetadata, ImageSource } from '../source.js';
import {
  assertSides,
  assertWithin,
  type FixedArguments,
  type FluidArguments,
  type ImageArguments,
  parseColour,
  type ResizeArguments,
  toTraceOptions,
} from './arguments.js';
import {
  assertPreview,
  canLinkImage,
  type ImageFieldDependencies,
  type ImageRequest,
  type InlineImageReader,
  lazy,
  type LinkedImage,
  linkImage,
  toInlineImage,
  toInlineTrace,
  toPreview,
} from './links.js';
import { fitFrame, fixedFrames, fluidFrames, type Frame, resizeFrame, type Size, sizeInFile } from './sizes.js';
import { assertEncoding, type Operations, outputSize, toOperations, toOutput } from './transform.js';

export interface FieldArguments {
  readonly fixed: FixedArguments;
  readonly fluid: FluidArguments;
  readonly resize: ResizeArguments;
}

export type FieldName = keyof FieldArguments;

/** Far more widths than a layout needs; each one adds a link to the response. */
const MAX_BREAKPOINTS = 64;

/** Enough for one media condition per layout. */
const MAX_SIZES_CHARACTERS = 2_000;

/**
 * Validates all arguments of a field and returns the operations that they request.
 *
 * @throws AppError `invalid_input` that names the argument.
 */
export function parseOperations(field: FieldName, args: FieldArguments[FieldName]): Operations {
  assertEncoding(args);
  if (args.traceSVG) toTraceOptions(args.traceSVG);
  if (args.background) parseColour('background', args.background);
  if (field === 'fluid') requireFluid(args);
  else assertSides({ width: (args as FixedArguments).width, height: (args as FixedArguments).height });
  if (field !== 'resize') assertPreview(args as FixedArguments);
  return toOperations(args);
}

function requireFluid({ maxWidth, maxHeight, srcSetBreakpoints, sizes }: FluidArguments): void {
  assertSides({ maxWidth, maxHeight });
  assertWithin('the number of srcSetBreakpoints', srcSetBreakpoints?.length, { min: 0, max: MAX_BREAKPOINTS });
  for (const breakpoint of srcSetBreakpoints ?? []) assertSides({ srcSetBreakpoints: breakpoint });
  assertWithin('the length of sizes', sizes?.length, { min: 0, max: MAX_SIZES_CHARACTERS });
}

/** Returns the size of the source image: with its EXIF orientation applied if the operations do so, else as stored. */
export const untrimmedSize = (metadata: ImageMetadata, { orient }: Operations): Size =>
  orient ? { width: metadata.width, height: metadata.height } : sizeInFile(metadata);

/** Returns the size of a measured trim box, which refers to the pixels as stored, in the orientation of the result. */
export const trimmedSize = ({ width, height }: Size, { orientation }: ImageMetadata, { orient }: Operations): Size =>
  sizeInFile({ width, height, orientation: orient ? orientation : 1 });

const FIELDS = { fixed: toFixed, fluid: toFluid, resize: toResized };

export type FieldResult<Field extends FieldName> = ReturnType<(typeof FIELDS)[Field]>;

export const toFieldResult = <Field extends FieldName>(
  field: Field,
  parts: ImageFieldDependencies,
  draft: ImageRequest<FieldArguments[Field]>,
): FieldResult<Field> =>
  (FIELDS[field] as (parts: ImageFieldDependencies, draft: ImageRequest<ImageArguments>) => FieldResult<Field>)(
    parts,
    draft,
  );

/** An image in one size, with variants for high-density screens. */
interface FixedImage extends SourceSet {
  readonly width: number;
  readonly height: number;
}

/** Leaves out larger frames than the required ones that the format can't hold, such as a panorama of 20,000 pixels in AVIF. */
const linkableFrames = (draft: ImageRequest<ImageArguments>, frames: readonly Frame[], required: number): Frame[] =>
  frames.filter((frame, index) => index <= required || canLinkImage(draft, frame));

const DENSITIES = ['1x', '1.5x', '2x'];

function toFixed(parts: ImageFieldDependencies, draft: ImageRequest<FixedArguments>): FixedImage {
  const frames = linkableFrames(draft, fixedFrames(draft.size, draft.args), 0);
  const images = frames.map((frame) => linkImage(parts, draft, frame)) as [LinkedImage];
  const [first] = images;
  return {
    aspectRatio: first.width / first.height,
    width: first.width,
    height: first.height,
    originalName: draft.source.base,
    src: first.src,
    srcSet: toFixedSrcSet(images),
    ...toWebpSet(parts, draft, { frames, shown: 0, toSrcSet: toFixedSrcSet }),
    base64: lazy(() => toPreview(parts, draft, first)),
    tracedSVG: lazy(() => toInlineTrace(parts, draft, frames[0] ?? {})),
  };
}

const toFixedSrcSet = (images: readonly LinkedImage[]): string =>
  images.map(({ src }, index) => `${src} ${DENSITIES[index] ?? '1x'}`).join(',\n');

/** An image in several widths. */
interface FluidImage extends SourceSet {
  readonly originalImg: string;
  readonly presentationHeight: number;
  readonly presentationWidth: number;
  readonly sizes: string;
}

/** The width of traced outlines unless the arguments set both sides. */
const TRACED_WIDTH = 400;

function toFluid(parts: ImageFieldDependencies, draft: ImageRequest<FluidArguments>): FluidImage {
  const { frames: all, fallback, presented } = fluidFrames(draft.size, draft.args);
  const frames = linkableFrames(draft, all, Math.max(fallback, presented));
  const images = frames.map((frame) => linkImage(parts, draft, frame));
  const [first, shown, present] = [images[0], images[fallback], images[presented]];
  if (!first || !shown || !present) throw new Error('Expected an image in at least one width.');
  return {
    aspectRatio: first.width / first.height,
    originalImg: widest(images, first).src,
    originalName: draft.source.base,
    presentationHeight: present.height,
    presentationWidth: present.width,
    sizes: sizesOf(draft.args, present),
    src: shown.src,
    srcSet: toFluidSrcSet(images),
    ...toWebpSet(parts, draft, { frames, shown: fallback, toSrcSet: toFluidSrcSet }),
    base64: lazy(() => toPreview(parts, draft, first)),
    tracedSVG: lazy(() => toInlineTrace(parts, draft, tracedFrame(draft.args))),
  };
}

/** An empty `sizes` selects the default. */
const sizesOf = ({ sizes }: FluidArguments, { width }: LinkedImage): string =>
  sizes === '' || sizes == null ? `(max-width: ${width}px) 100vw, ${width}px` : sizes;

/** Returns the widest image; the first one on a tie. */
const widest = (images: readonly LinkedImage[], first: LinkedImage): LinkedImage =>
  images.reduce((most, image) => (image.width > most.width ? image : most), first);

const tracedFrame = ({ maxWidth, maxHeight }: FluidArguments): Frame =>
  maxWidth != null && maxHeight != null ? { width: maxWidth, height: maxHeight } : { width: TRACED_WIDTH };

const toFluidSrcSet = (images: readonly LinkedImage[]): string =>
  images.map(({ src, width }) => `${src} ${width}w`).join(',\n');

/** One image in one size. Members that need pixels are functions, which render when called. */
interface ResizedImage {
  readonly aspectRatio: number;
  readonly width: number;
  readonly height: number;
  readonly originalName: string;
  readonly src: () => string | Promise<string>;
  readonly tracedSVG: InlineImageReader;
}

/** The width of an inline image unless an argument sets a side. */
const INLINE_WIDTH = 20;

function toResized(parts: ImageFieldDependencies, draft: ImageRequest<ResizeArguments>): ResizedImage {
  const { args, size, source, operations } = draft;
  const hasNoSides = args.width == null && args.height == null;
  const frame = args.base64 && hasNoSides ? { width: INLINE_WIDTH } : resizeFrame(args);
  const { width, height } = outputSize({ ...fitFrame(size, frame, args.fit ?? 'COVER'), ...operations });
  const common = {
    aspectRatio: width / height,
    width,
    height,
    originalName: source.base,
    tracedSVG: lazy(() => toInlineTrace(parts, draft, frame)),
  };
  if (args.base64) return { ...common, src: lazy(() => toInlineImage(parts.inline, draft, frame)) };
  const { src } = linkImage(parts, draft, frame);
  return { ...common, src: () => src };
}

/** One image in several sizes, and in WEBP. Members that need pixels or further links are functions. */
interface SourceSet extends WebpSet {
  readonly aspectRatio: number;
  readonly originalName: string;
  readonly src: string;
  readonly srcSet: string;
  readonly base64: InlineImageReader;
  readonly tracedSVG: InlineImageReader;
}

/** Null if the images are already in WEBP, or WEBP can't hold the image that is shown. */
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
function toWebpSet(
  parts: ImageFieldDependencies,
  draft: ImageRequest<ImageArguments>,
  { frames, ...shape }: SetShape,
): WebpSet {
  let known: readonly LinkedImage[] | undefined;
  const findFrames = (): readonly Frame[] => {
    const found = frames.filter((frame) => canLinkImage(draft, frame, 'WEBP'));
    return isWebp(draft) || found.length <= shape.shown ? [] : found;
  };
  const link = (): readonly LinkedImage[] =>
    (known ??= findFrames().map((frame) => linkImage(parts, draft, frame, 'WEBP')));
  return { srcWebp: () => link()[shape.shown]?.src ?? null, srcSetWebp: () => shape.toSrcSet(link()) || null };
}

const isWebp = ({ source, args }: ImageRequest<ImageArguments>): boolean =>
  toOutput(source.ext, args.toFormat).format === 'webp';

/** Caches the results of image fields, so that a repeated query computes nothing. */
export interface ResultCache {
  find<Field extends FieldName>(
    field: Field,
    source: ImageSource,
    args: FieldArguments[Field],
  ): FieldResult<Field> | undefined;
  keep<Field extends FieldName>(
    field: Field,
    source: ImageSource,
    args: FieldArguments[Field],
    result: FieldResult<Field>,
  ): void;
}

/** A few kilobytes each: enough for the fluid images of several large pages. */
const MAX_RESULTS = 5_000;

export function createResultCache(): ResultCache {
  const results = new LRUCache<string, object>({ max: MAX_RESULTS });
  /** The recently used results by source, which spares building a key: that takes longer than the lookup. */
  let bySource = new WeakMap<ImageSource, Map<string, object>>();
  let bySourceCount = 0;
  const texts = new WeakMap<object, string>();

  /** Serialises arguments. All images of a list share one arguments object, which is serialised once. */
  function textOf(field: FieldName, args: object): string {
    const known = texts.get(args);
    if (known?.startsWith(field)) return known;
    const text = `${field} ${JSON.stringify(args)}`;
    texts.set(args, text);
    return text;
  }

  function addBySource(source: ImageSource, text: string, result: object): void {
    // Cleared when it reaches the size of the other cache.
    if (bySourceCount === MAX_RESULTS) [bySource, bySourceCount] = [new WeakMap(), 0];
    bySource.set(source, (bySource.get(source) ?? new Map<string, object>()).set(text, result));
    bySourceCount += 1;
  }

  return {
    find<Field extends FieldName>(field: Field, source: ImageSource, args: FieldArguments[Field]) {
      const text = textOf(field, args);
      const near = bySource.get(source)?.get(text);
      if (near) return near as FieldResult<Field>;
      // `peek` does not update the order of use, which would take as long as the rest of this function.
      const result = results.peek(keyOf(source, text));
      if (result) addBySource(source, text, result);
      return result as FieldResult<Field> | undefined;
    },
    keep(field, source, args, result) {
      const text = textOf(field, args);
      results.set(keyOf(source, text), result);
      addBySource(source, text, result);
    },
  };
}

/** Returns a key of everything that a result depends on, including the file that its inline images read. */
const keyOf = ({ contentDigest, mtimeMs, absolutePath }: ImageSource, text: string): string =>
  `${contentDigest} ${mtimeMs} ${absolutePath} ${text}`;
