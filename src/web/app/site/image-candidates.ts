/** An image candidate of a `srcset`. */
export interface ImageCandidate {
  readonly src: string;
  /** The descriptor, such as `1.5x` or `400w`. */
  readonly descriptor: string;
}

/** Parses a `srcset` whose URLs contain no spaces. */
export const parseSrcSet = (srcSet: string): ImageCandidate[] =>
  srcSet
    .split(/,\s+/)
    .map((part) => part.trim().split(/\s+/))
    .map(([src = '', descriptor = '']) => ({ src, descriptor }))
    .filter(({ src }) => src !== '');

/** Returns the width in pixels from a `w` descriptor; `undefined` for other descriptors. */
export const getCandidateWidth = ({ descriptor }: ImageCandidate): number | undefined =>
  descriptor.endsWith('w') ? Number(descriptor.slice(0, -1)) : undefined;
