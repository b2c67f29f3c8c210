/** The sets of characters that a generated value may contain. */
export const CHARACTER_SETS = {
  lower: ['a–z', 'abcdefghijklmnopqrstuvwxyz'],
  upper: ['A–Z', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'],
  digits: ['0–9', '0123456789'],
  symbols: ['Symbols', '!#%&()*+,-./:;<=>?@[]^_{|}~'],
} as const;

export type CharacterSet = keyof typeof CHARACTER_SETS;

/** Characters that people confuse when they read a value aloud or copy it by hand. */
const LOOK_ALIKE = /[01IOl|]/g;

/** Returns the distinct characters of the chosen sets. */
export function toAlphabet(sets: readonly CharacterSet[], isReadable: boolean): string {
  const all = sets.map((set) => CHARACTER_SETS[set][1]).join('');
  return isReadable ? all.replace(LOOK_ALIKE, '') : all;
}

/** Fills an array with random bytes. */
type FillRandom = (bytes: Uint8Array<ArrayBuffer>) => unknown;

/**
 * Generates a value whose characters are independent and equally likely.
 *
 * @param alphabet 1 to 256 distinct characters of one UTF-16 unit each
 */
export function generateValue(
  length: number,
  alphabet: string,
  fill: FillRandom = (bytes) => crypto.getRandomValues(bytes),
): string {
  // A remainder of a larger byte would make the first characters more likely, so such bytes are skipped.
  const limit = 256 - (256 % alphabet.length);
  const bytes = new Uint8Array(256);
  let text = '';
  while (text.length < length) {
    fill(bytes);
    for (const byte of bytes) {
      if (byte < limit && text.length < length) text += alphabet.charAt(byte % alphabet.length);
    }
  }
  return text;
}

/** Returns the entropy of a generated value in bits. */
export const toEntropy = (length: number, alphabet: string): number =>
  alphabet.length < 2 ? 0 : length * Math.log2(alphabet.length);
