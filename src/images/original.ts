import type { ImageMetadata } from './metadata.js';
import type { ImageSource } from './source.js';

/** A picture as it is. */
export interface OriginalImage {
  /** In pixels, as the picture is shown. */
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

/** The last part of the link to a picture as it is: `<name>-<digest><ext>`, percent-encoded. */
export const formatOriginalName = ({ name, contentDigest, ext }: OriginalName): string =>
  encodeURIComponent(`${name}-${contentDigest}${ext}`);

export type OriginalName = Pick<ImageSource, 'name' | 'contentDigest' | 'ext'>;

/** The inverse of {@link formatOriginalName}; `undefined` for a name of another form. */
export function parseOriginalName(segment: string): OriginalName | undefined {
  const [, name, contentDigest, ext] = /^(.+)-([0-9a-f]{32})(\.[^./]*)?$/su.exec(decode(segment) ?? '') ?? [];
  return name === undefined || contentDigest === undefined ? undefined : { name, contentDigest, ext: ext ?? '' };
}

/** @returns `undefined` for text that is not percent-encoded. */
export function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
