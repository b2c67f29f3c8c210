import type { ImageMetadata } from './metadata.js';
import type { ImageSource } from './source.js';

/** The unchanged source image. */
export interface OriginalImage {
  /** In pixels, with the EXIF orientation applied. */
  readonly width: number;
  readonly height: number;
  readonly src: string;
}

/** @param toUrl Returns the URL of a percent-encoded path below `/static`. */
export const toOriginal = (
  source: ImageSource,
  metadata: ImageMetadata,
  toUrl: (path: string) => string,
): OriginalImage => ({
  width: metadata.width,
  height: metadata.height,
  src: toUrl(`/${formatOriginalName(source)}`),
});

/** Formats the last segment of the link to an original: `<name>-<digest><ext>`, percent-encoded. */
export const formatOriginalName = ({ name, contentDigest, ext }: OriginalName): string =>
  encodeURIComponent(`${name}-${contentDigest}${ext}`);

export type OriginalName = Pick<ImageSource, 'name' | 'contentDigest' | 'ext'>;

/** The inverse of {@link formatOriginalName}; returns `undefined` for a segment of any other form. */
export function parseOriginalName(segment: string): OriginalName | undefined {
  const [, name, contentDigest, ext] = /^(.+)-([0-9a-f]{32})(\.[^./]*)?$/su.exec(decodeSegment(segment) ?? '') ?? [];
  return name === undefined || contentDigest === undefined ? undefined : { name, contentDigest, ext: ext ?? '' };
}

/** Decodes a percent-encoded path segment; returns `undefined` for malformed text. */
export function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
