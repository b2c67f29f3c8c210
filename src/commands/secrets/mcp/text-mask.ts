import { base32 } from '@scure/base';

const REPLACEMENT = '***';

/** Parts of a value of this length are replaced; shorter parts also occur in harmless output. */
export const MIN_HIDDEN = 8;

export interface MaskedText {
  /** The bytes with each part of a value replaced. */
  readonly bytes: Buffer;
  /** The number of replaced parts. */
  readonly count: number;
}

/**
 * Replaces every part of at least 8 characters of a value in a whole text. Unlike `OutputMask`, it also finds parts of
 * values, values in other data that is encoded as base64, base32 or hexadecimal, escaped and reversed values, and all of
 * these in upper or lower case and with characters between that are neither letters nor digits, such as line breaks.
 */
export class TextMask {
  /** Parts of the values, and of the values without other characters than letters and digits. */
  readonly #exact = new Set<string>();
  readonly #squeezed = new Set<string>();

  constructor(values: readonly string[]) {
    for (const form of values.flatMap(toForms).map((form) => form.toLowerCase())) {
      addParts(this.#exact, form);
      addParts(this.#squeezed, form.replace(SEPARATORS, ''));
    }
  }

  mask(bytes: Uint8Array): MaskedText {
    const text = Buffer.from(bytes).toString('latin1');
    const hidden = this.#findHidden(text.toLowerCase());
    let masked = '';
    let count = 0;
    for (let at = 0; at < text.length; at += 1) {
      if (hidden[at] === 0) masked += text.charAt(at);
      else if (at === 0 || hidden[at - 1] === 0) {
        masked += REPLACEMENT;
        count += 1;
      }
    }
    return { bytes: Buffer.from(masked, 'latin1'), count };
  }

  /** Returns 1 for each character that belongs to a value. */
  #findHidden(text: string): Uint8Array {
    const hidden = new Uint8Array(text.length);
    for (let at = 0; at + MIN_HIDDEN <= text.length; at += 1) {
      if (this.#exact.has(text.slice(at, at + MIN_HIDDEN))) hidden.fill(1, at, at + MIN_HIDDEN);
    }
    const positions = [...text.matchAll(LETTERS)].map(({ index }) => index);
    const squeezed = text.replace(SEPARATORS, '');
    for (let at = 0; at + MIN_HIDDEN <= squeezed.length; at += 1) {
      if (!this.#squeezed.has(squeezed.slice(at, at + MIN_HIDDEN))) continue;
      hidden.fill(1, positions[at], (positions[at + MIN_HIDDEN - 1] ?? 0) + 1);
    }
    return hidden;
  }
}

const LETTERS = /[a-z0-9]/g;

const SEPARATORS = /[^a-z0-9]+/g;

function addParts(parts: Set<string>, text: string): void {
  for (let at = 0; at + MIN_HIDDEN <= text.length; at += 1) parts.add(text.slice(at, at + MIN_HIDDEN));
}

/** Returns the usual encodings of a value, as one character for each byte. */
function toForms(value: string): string[] {
  const bytes = Buffer.from(value);
  const text = bytes.toString('latin1');
  return [
    text,
    Array.from(text).reverse().join(''),
    toLatin1(JSON.stringify(value).slice(1, -1)),
    encodeURIComponent(value),
    bytes.toString('hex'),
    ...[0, 1, 2].map((offset) => encodeAt(bytes, offset, { unit: 4 / 3, encode: (all) => all.toString('base64') })),
    ...[0, 1, 2, 3, 4].map((offset) => encodeAt(bytes, offset, { unit: 8 / 5, encode: (all) => base32.encode(all) })),
  ];
}

const toLatin1 = (text: string): string => Buffer.from(text).toString('latin1');

interface Encoding {
  /** The characters of a byte. */
  readonly unit: number;
  readonly encode: (bytes: Buffer) => string;
}

/** Encodes a value after some other bytes, without the characters that also contain bits of other data. */
function encodeAt(bytes: Buffer, offset: number, { unit, encode }: Encoding): string {
  const text = encode(Buffer.concat([Buffer.alloc(offset), bytes])).replace(/=+$/, '');
  return text.slice(Math.ceil(offset * unit), Math.floor((offset + bytes.length) * unit));
}
