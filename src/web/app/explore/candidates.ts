/** An image candidate of a `srcset`. */
export interface Candidate {
  readonly src: string;
  /** The descriptor, such as `1.5x` or `400w`. */
  readonly descriptor: string;
}

/** Parses a `srcset` whose URLs contain no spaces. */
export const readCandidates = (srcSet: string): Candidate[] =>
  srcSet
    .split(/,\s+/)
    .map((part) => part.trim().split(/\s+/))
    .map(([src = '', descriptor = '']) => ({ src, descriptor }))
    .filter(({ src }) => src !== '');

/** Returns the width in pixels from a `w` descriptor; `undefined` for other descriptors. */
export const widthOf = ({ descriptor }: Candidate): number | undefined =>
  descriptor.endsWith('w') ? Number(descriptor.slice(0, -1)) : undefined;
