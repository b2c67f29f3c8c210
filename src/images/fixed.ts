import type { FixedArguments } from './arguments.js';
import { linkImage, toPreview, toInlineTrace, lazy } from './image-request.js';
import type { ImageRequest, ImageFieldDependencies, LinkedImage } from './image-request.js';
import { fixedFrames } from './sizes.js';
import { toWebpSet } from './source-set.js';
import type { SourceSet } from './source-set.js';

/** An image in one size, with variants for high-density screens. */
export interface FixedImage extends SourceSet {
  readonly width: number;
  readonly height: number;
}

const DENSITIES = ['1x', '1.5x', '2x'];

export function toFixed(parts: ImageFieldDependencies, draft: ImageRequest<FixedArguments>): FixedImage {
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
    base64: lazy(() => toPreview(parts, draft, first)),
    tracedSVG: lazy(() => toInlineTrace(parts, draft, frames[0] ?? {})),
  };
}

const toSrcSet = (images: readonly LinkedImage[]): string =>
  images.map(({ src }, index) => `${src} ${DENSITIES[index] ?? '1x'}`).join(',\n');
