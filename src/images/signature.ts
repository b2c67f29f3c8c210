/** The supported formats of source images. */
export type SourceFormat = 'jpeg' | 'png' | 'webp' | 'gif' | 'tiff' | 'avif' | 'svg';

/** Enough for every signature, and to reach the root element of most drawings. */
export const SIGNATURE_BYTES = 4096;

type Test = (head: Buffer) => boolean;

const startsWith =
  (...signatures: readonly string[]): Test =>
  (head) =>
    signatures.some((signature) => head.subarray(0, signature.length).equals(Buffer.from(signature, 'latin1')));

const hasAt =
  (offset: number, ...texts: readonly string[]): Test =>
  (head) =>
    texts.some((text) => head.toString('latin1', offset, offset + text.length) === text);

const SIGNATURES: readonly (readonly [Exclude<SourceFormat, 'svg'>, Test])[] = [
  ['jpeg', startsWith('\xff\xd8\xff')],
  ['png', startsWith('\x89PNG\r\n\x1a\n')],
  ['gif', startsWith('GIF87a', 'GIF89a')],
  ['tiff', startsWith('II*\0', 'MM\0*', 'II+\0', 'MM\0+')],
  ['webp', (head) => hasAt(0, 'RIFF')(head) && hasAt(8, 'WEBP')(head)],
  ['avif', (head) => hasAt(4, 'ftyp')(head) && hasAt(8, 'avif', 'avis', 'mif1', 'miaf')(head)],
];

/**
 * Returns the format that the first bytes of a file indicate, or `undefined`. The extension matters for SVG only: as a
 * drawing can refer to other files, a file without the extension `svg` is never treated as one.
 *
 * @param extension In lower case, without a dot.
 */
export function findFormat(head: Buffer, extension: string): SourceFormat | undefined {
  const [format] = SIGNATURES.find(([, test]) => test(head)) ?? [];
  if (format !== undefined || extension !== 'svg') return format;
  return /<(?:[\w-]+:)?svg[\s>]/u.test(head.toString('utf8')) ? 'svg' : undefined;
}
