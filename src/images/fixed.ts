import type { FixedArguments } from './arguments.js';
import { linkImage, previewOf, traceImage, whenAsked } from './draft.js';
import type { Draft, DraftParts, LinkedImage } from './draft.js';
import { fixedFrames } from './sizes.js';
import { toWebpSet } from './source-set.js';
import type { SourceSet } from './source-set.js';

/** An image in one size, with variants for high-density screens. */
export interface FixedImage extends SourceSet {
  readonly width: number;
  readonly height: number;
}

const DENSITIES = ['1x', '1.5x', '2x'];

export function toFixed(parts: DraftParts, draft: Draft<FixedArguments>): FixedImage {
  const frames = fixedFrames(draft.size, draft.args);
  const images = frames.map((frame) => linkImage(parts, draft, frame)) as [LinkedImage];
  const [first] = images;
  return {
    aspectRatio: first.width / first.height,
    width: first.width,
    height: first.height,
    originalName: draft.source.base,
    src: first.src,
    srcSet: toSrcSet(images),
    ...toWebpSet(parts, draft, { frames, shown: 0, toSrcSet }),
    base64: whenAsked(() => previewOf(parts, draft, first)),
    tracedSVG: whenAsked(() => traceImage(parts, draft, frames[0] ?? {})),
  };
}

const toSrcSet = (images: readonly LinkedImage[]): string =>
  images.map(({ src }, index) => `${src} ${DENSITIES[index] ?? '1x'}`).join(',\n');
