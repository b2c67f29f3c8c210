import type { ImageArguments } from './arguments.js';
import { isWebp, linkImage } from './draft.js';
import type { Draft, DraftParts, LinkedImage } from './draft.js';
import type { ReadInline } from './inline-images.js';
import type { Frame } from './sizes.js';

/** One image in several sizes, and in WEBP too. What takes pixels or more links is made when asked for. */
export interface SourceSet extends WebpSet {
  readonly aspectRatio: number;
  readonly originalName: string;
  readonly src: string;
  readonly srcSet: string;
  readonly base64: ReadInline;
  readonly tracedSVG: ReadInline;
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

/** The images of a set once more, in WEBP: linked when they are asked for, and then at hand. */
export function toWebpSet(parts: DraftParts, draft: Draft<ImageArguments>, { frames, ...shape }: SetShape): WebpSet {
  let saved: Links | Promise<Links> | undefined;

  function link(): Links | Promise<Links> {
    const images = isWebp(draft) ? [] : frames.map((frame) => linkImage(parts, draft, frame, 'WEBP'));
    return parts.whenSaved({ src: images[shape.shown]?.src ?? null, srcSet: shape.toSrcSet(images) || null });
  }

  function read<Name extends keyof Links>(name: Name): Links[Name] | Promise<Links[Name]> {
    saved ??= link();
    if (!(saved instanceof Promise)) return saved[name];
    return saved.then((links) => {
      saved = links;
      return links[name];
    });
  }

  return { srcWebp: () => read('src'), srcSetWebp: () => read('srcSet') };
}

interface Links {
  readonly src: string | null;
  readonly srcSet: string | null;
}
