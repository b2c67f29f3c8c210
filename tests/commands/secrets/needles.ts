/** One encoding of a text to search for. */
export interface Needle {
  readonly form: string;
  readonly bytes: Buffer;
}

/** Returns a text in the encodings that programs use. */
export function toNeedles(text: string): Needle[] {
  const bytes = Buffer.from(text);
  return [
    { form: 'UTF-8', bytes },
    { form: 'UTF-16', bytes: Buffer.from(text, 'utf16le') },
    { form: 'hexadecimal', bytes: Buffer.from(bytes.toString('hex')) },
    { form: 'upper hexadecimal', bytes: Buffer.from(bytes.toString('hex').toUpperCase()) },
    ...[0, 1, 2].flatMap((offset) => toBase64Needles(bytes, offset)),
  ];
}

/**
 * Returns the base64 forms of a text inside other data. There are three, depending on its offset. The first and last
 * characters are omitted, as they also contain bits of the other data.
 */
function toBase64Needles(bytes: Buffer, offset: number): Needle[] {
  const text = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString('base64')
    .replace(/=+$/, '');
  const inner = text.slice(Math.ceil((offset * 4) / 3), Math.floor(((offset + bytes.length) * 4) / 3));
  const url = inner.replaceAll('+', '-').replaceAll('/', '_');
  return [...new Set([inner, url])].map((each) => ({ form: `base64 at ${offset}`, bytes: Buffer.from(each) }));
}

/** Returns the forms that occur in the data. */
export const findNeedles = (haystack: Buffer, needles: readonly Needle[]): string[] =>
  needles.filter(({ bytes }) => haystack.includes(bytes)).map(({ form }) => form);
