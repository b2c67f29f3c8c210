import type { FixedArguments } from './arguments.js';
import { isWebp, linkImage, previewOf, traceImage } from './draft.js';
import type { Draft, DraftParts, LinkedImage } from './draft.js';
import { fixedFrames } from './sizes.js';

/** An image in one size, and the same for denser screens. What takes pixels or more links is made when asked for. */
export interface FixedImage {
  readonly aspectRatio: number;
  readonly width: number;
  readonly height: number;
  readonly originalName: string;
  readonly src: string;
  readonly srcSet: string;
  readonly srcWebp: () => string | null | Promise<string | null>;
  readonly srcSetWebp: () => string | null | Promise<string | null>;
  readonly base64: () => Promise<string>;
  readonly tracedSVG: () => Promise<string>;
}

const DENSITIES = ['1x', '1.5x', '2x'];

export function toFixed(parts: DraftParts, draft: Draft<FixedArguments>): FixedImage {
  const frames = fixedFrames(draft.size, draft.args);
  const images = frames.map((frame) => linkImage(parts, draft, frame)) as [LinkedImage];
  const [first] = images;
  const webp = () => (isWebp(draft) ? [] : frames.map((frame) => linkImage(parts, draft, frame, 'WEBP')));
  return {
    aspectRatio: first.width / first.height,
    width: first.width,
    height: first.height,
    originalName: draft.source.base,
    src: first.src,
    srcSet: toSrcSet(images),
    srcWebp: () => parts.whenSaved(webp()[0]?.src ?? null),
    srcSetWebp: () => parts.whenSaved(toSrcSet(webp()) || null),
    base64: () => previewOf(parts, draft, first),
    tracedSVG: () => traceImage(parts, draft, frames[0] ?? {}),
  };
}

const toSrcSet = (images: readonly LinkedImage[]): string =>
  images.map(({ src }, index) => `${src} ${DENSITIES[index] ?? '1x'}`).join(',\n');
