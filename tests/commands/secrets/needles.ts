/** What a text may look like where it should not be. */
export interface Needle {
  readonly form: string;
  readonly bytes: Buffer;
}

/** A text as it is, and as programs like to write it. */
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

/** Of a text amid others, base64 has three forms, by where it begins; the characters at its ends hold bits of both. */
function toBase64Needles(bytes: Buffer, offset: number): Needle[] {
  const text = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString('base64')
    .replace(/=+$/, '');
  const inner = text.slice(Math.ceil((offset * 4) / 3), Math.floor(((offset + bytes.length) * 4) / 3));
  const url = inner.replaceAll('+', '-').replaceAll('/', '_');
  return [...new Set([inner, url])].map((each) => ({ form: `base64 at ${offset}`, bytes: Buffer.from(each) }));
}

/** The forms that are in there. */
export const findNeedles = (haystack: Buffer, needles: readonly Needle[]): string[] =>
  needles.filter(({ bytes }) => haystack.includes(bytes)).map(({ form }) => form);
