import type { ImageArguments } from './arguments.js';
import { isWebp, linkImage } from './draft.js';
import type { Draft, DraftParts, LinkedImage } from './draft.js';
import type { Frame } from './sizes.js';

/** One image in several sizes, and in WEBP too. What takes pixels or more links is made when asked for. */
export interface SourceSet extends WebpSet {
  readonly aspectRatio: number;
  readonly originalName: string;
  readonly src: string;
  readonly srcSet: string;
  readonly base64: () => Promise<string>;
  readonly tracedSVG: () => Promise<string>;
}

/** Null where the images are in WEBP already. */
interface WebpSet {
  readonly srcWebp: () => string | null | Promise<string | null>;
  readonly srcSetWebp: () => string | null | Promise<string | null>;
}

interface SetShape {
  readonly frames: readonly Frame[];
  /** Of the frames: the one to show where a browser knows no better. */
  readonly shown: number;
  readonly toSrcSet: (images: readonly LinkedImage[]) => string;
}

/** The images of a set once more, in WEBP. */
export function toWebpSet(parts: DraftParts, draft: Draft<ImageArguments>, { frames, ...shape }: SetShape): WebpSet {
  const link = () => (isWebp(draft) ? [] : frames.map((frame) => linkImage(parts, draft, frame, 'WEBP')));
  return {
    srcWebp: () => parts.whenSaved(link()[shape.shown]?.src ?? null),
    srcSetWebp: () => parts.whenSaved(shape.toSrcSet(link()) || null),
  };
}
