import type { FluidArguments } from './arguments.js';
import { isWebp, linkImage, previewOf, traceImage } from './draft.js';
import type { Draft, DraftParts, LinkedImage } from './draft.js';
import { fluidFrames } from './sizes.js';
import type { Frame } from './sizes.js';

/** An image in several widths. What takes pixels or more links is made when asked for. */
export interface FluidImage {
  readonly aspectRatio: number;
  readonly originalImg: string;
  readonly originalName: string;
  readonly presentationHeight: number;
  readonly presentationWidth: number;
  readonly sizes: string;
  readonly src: string;
  readonly srcSet: string;
  readonly srcWebp: () => string | null | Promise<string | null>;
  readonly srcSetWebp: () => string | null | Promise<string | null>;
  readonly base64: () => Promise<string>;
  readonly tracedSVG: () => Promise<string>;
}

/** How wide outlines are drawn where the arguments bind less than both sides. */
const TRACED_WIDTH = 400;

export function toFluid(parts: DraftParts, draft: Draft<FluidArguments>): FluidImage {
  const { frames, fallback, presented } = fluidFrames(draft.size, draft.args);
  const images = frames.map((frame) => linkImage(parts, draft, frame));
  const [first, shown, present] = [images[0], images[fallback], images[presented]];
  if (!first || !shown || !present) throw new Error('Expected an image in at least one width.');
  const webp = () => (isWebp(draft) ? [] : frames.map((frame) => linkImage(parts, draft, frame, 'WEBP')));
  return {
    aspectRatio: first.width / first.height,
    originalImg: widest(images, first).src,
    originalName: draft.source.base,
    presentationHeight: present.height,
    presentationWidth: present.width,
    sizes: sizesOf(draft.args, present),
    src: shown.src,
    srcSet: toSrcSet(images),
    srcWebp: () => parts.whenSaved(webp()[fallback]?.src ?? null),
    srcSetWebp: () => parts.whenSaved(toSrcSet(webp()) || null),
    base64: () => previewOf(parts, draft, first),
    tracedSVG: () => traceImage(parts, draft, tracedFrame(draft.args)),
  };
}

/** An empty text means the same as none. */
const sizesOf = ({ sizes }: FluidArguments, { width }: LinkedImage): string =>
  sizes === '' || sizes == null ? `(max-width: ${width}px) 100vw, ${width}px` : sizes;

/** The first of the widest. */
const widest = (images: readonly LinkedImage[], first: LinkedImage): LinkedImage =>
  images.reduce((most, image) => (image.width > most.width ? image : most), first);

const tracedFrame = ({ maxWidth, maxHeight }: FluidArguments): Frame =>
  maxWidth != null && maxHeight != null ? { width: maxWidth, height: maxHeight } : { width: TRACED_WIDTH };

const toSrcSet = (images: readonly LinkedImage[]): string =>
  images.map(({ src, width }) => `${src} ${width}w`).join(',\n');
