import { generateMnemonic, validateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';

const WORDS = 24;

/** Generates 24 words that encode 256 random bits and a checksum, which detects most copying errors. */
export const generatePhrase = (): readonly string[] => generateMnemonic(wordlist, 256).split(' ');

/**
 * Parses a phrase as users type or paste it: in any case, on several lines, with commas or with numbers before the
 * words.
 *
 * @returns The words in lower case with single spaces, the form that wraps the identity.
 * @throws Error when the phrase is invalid. The message contains no word of the phrase.
 */
export function parsePhrase(text: string): string {
  const words = text.toLowerCase().match(/[a-z]+/g) ?? [];
  if (words.length !== WORDS) throw new Error(`A recovery phrase has ${WORDS} words; you entered ${words.length}.`);
  const unknown = words.findIndex((word) => !wordlist.includes(word));
  if (unknown !== -1) throw new Error(`Word ${unknown + 1} is not in the word list of recovery phrases.`);
  const phrase = words.join(' ');
  if (validateMnemonic(phrase, wordlist)) return phrase;
  throw new Error('Not a valid recovery phrase: a word is wrong or out of order.');
}
