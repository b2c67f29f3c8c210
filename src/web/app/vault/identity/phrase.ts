import { generateMnemonic, validateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';

const WORDS = 24;

/** 24 words: 256 random bits, and a checksum that finds most slips of the pen. */
export const makePhrase = (): readonly string[] => generateMnemonic(wordlist, 256).split(' ');

/**
 * Reads a phrase as people type and paste it: in either case, over several
 * lines, with commas and with numbers before the words.
 *
 * @returns The words in lower case with single spaces, which is what the identity was sealed with.
 * @throws Error that says what is wrong, without a word of the phrase.
 */
export function parsePhrase(text: string): string {
  const words = text.toLowerCase().match(/[a-z]+/g) ?? [];
  if (words.length !== WORDS) throw new Error(`A recovery phrase has ${WORDS} words; these are ${words.length}.`);
  const unknown = words.findIndex((word) => !wordlist.includes(word));
  if (unknown !== -1) throw new Error(`Word ${unknown + 1} is none that a recovery phrase is made of.`);
  const phrase = words.join(' ');
  if (validateMnemonic(phrase, wordlist)) return phrase;
  throw new Error('These words don’t make a recovery phrase: one is another, or their order is.');
}
