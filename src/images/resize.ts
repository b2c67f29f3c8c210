import type { ResizeArguments } from './arguments.js';
import { toInlineImage, linkImage, toInlineTrace, lazy } from './image-request.js';
import type { ImageRequest, ImageFieldDependencies } from './image-request.js';
import type { InlineImageReader } from './inline-images.js';
import { outputSize } from './transform.js';
import { fitFrame, resizeFrame } from './sizes.js';

/** One image in one size. Members that need pixels are functions, which render when called. */
export interface ResizedImage {
  readonly aspectRatio: number;
  readonly width: number;
  readonly height: number;
  readonly originalName: string;
  readonly src: () => string | Promise<string>;
  readonly tracedSVG: InlineImageReader;
}

/** The width of an inline image unless an argument sets a side. */
const INLINE_WIDTH = 20;

export function toResized(parts: ImageFieldDependencies, draft: ImageRequest<ResizeArguments>): ResizedImage {
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
