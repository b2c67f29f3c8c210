import type { ImageArguments } from './arguments.js';
import { isWebp, linkImage } from './image-request.js';
import type { ImageRequest, ImageFieldDependencies, LinkedImage } from './image-request.js';
import type { InlineImageReader } from './inline-images.js';
import type { Frame } from './sizes.js';

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
