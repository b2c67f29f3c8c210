/** One of the images that a browser may choose from. */
export interface Candidate {
  readonly src: string;
  /** As `srcset` says it, such as `1.5x` or `400w`. */
  readonly descriptor: string;
}

/** Reads a `srcset` whose links hold no spaces. */
export const readCandidates = (srcSet: string): Candidate[] =>
  srcSet
    .split(/,\s+/)
    .map((part) => part.trim().split(/\s+/))
    .map(([src = '', descriptor = '']) => ({ src, descriptor }))
    .filter(({ src }) => src !== '');

/** The width in pixels that a candidate says, if it does. */
export const widthOf = ({ descriptor }: Candidate): number | undefined =>
  descriptor.endsWith('w') ? Number(descriptor.slice(0, -1)) : undefined;
