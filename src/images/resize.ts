import type { ResizeArguments } from './arguments.js';
import { inlineImage, linkImage, traceImage, whenAsked } from './draft.js';
import type { Draft, DraftParts } from './draft.js';
import type { ReadInline } from './inline-images.js';
import { writtenSize } from './recipe.js';
import { fitFrame, resizeFrame } from './sizes.js';

/** One image of one size. What takes pixels is made when asked for. */
export interface ResizedImage {
  readonly aspectRatio: number;
  readonly width: number;
  readonly height: number;
  readonly originalName: string;
  readonly src: () => string | Promise<string>;
  readonly tracedSVG: ReadInline;
}

/** How wide an image inside the answer is where no side is named. */
const INLINE_WIDTH = 20;

export function toResized(parts: DraftParts, draft: Draft<ResizeArguments>): ResizedImage {
  const { args, size, source, operations } = draft;
  const isLone = args.width == null && args.height == null;
  const frame = args.base64 && isLone ? { width: INLINE_WIDTH } : resizeFrame(args);
  const { width, height } = writtenSize({ ...fitFrame(size, frame, args.fit ?? 'COVER'), ...operations });
  const common = {
    aspectRatio: width / height,
    width,
    height,
    originalName: source.base,
    tracedSVG: whenAsked(() => traceImage(parts, draft, frame)),
  };
  if (args.base64) return { ...common, src: whenAsked(() => inlineImage(parts.inline, draft, frame)) };
  const { src } = linkImage(parts, draft, frame);
  return { ...common, src: () => src };
}
