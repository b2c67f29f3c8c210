import type { FluidArguments } from './arguments.js';
import { linkImage, toPreview, toInlineTrace, lazy } from './image-request.js';
import type { ImageRequest, ImageFieldDependencies, LinkedImage } from './image-request.js';
import { fluidFrames } from './sizes.js';
import type { Frame } from './sizes.js';
import { toWebpSet } from './source-set.js';
import type { SourceSet } from './source-set.js';

/** An image in several widths. */
export interface FluidImage extends SourceSet {
  readonly originalImg: string;
  readonly presentationHeight: number;
  readonly presentationWidth: number;
  readonly sizes: string;
}

/** The width of traced outlines unless the arguments set both sides. */
const TRACED_WIDTH = 400;

export function toFluid(parts: ImageFieldDependencies, draft: ImageRequest<FluidArguments>): FluidImage {
  const { frames, fallback, presented } = fluidFrames(draft.size, draft.args);
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
    srcSet: toSrcSet(images),
    ...toWebpSet(parts, draft, { frames, shown: fallback, toSrcSet }),
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

const toSrcSet = (images: readonly LinkedImage[]): string =>
  images.map(({ src, width }) => `${src} ${width}w`).join(',\n');
