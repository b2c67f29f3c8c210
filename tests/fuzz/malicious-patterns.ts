/** A query that filters by a pattern designed to be slow. */
export interface MaliciousPattern {
  readonly operator: 'glob' | 'regex';
  readonly pattern: string;
}

type Random = () => number;

/** Creates a generator of reproducible numbers from 0 (inclusive) to 1 (exclusive), by mulberry32. */
function randomNumbers(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;

const pickLetter = (random: Random, name: string): string => name.charAt(Math.floor(random() * name.length));

const count = (random: Random, from: number, to: number): number => from + Math.floor(random() * (to - from + 1));

const times = (number: number, make: () => string): string[] => Array.from({ length: number }, make);

/** Returns pieces of a name, one to three letters long, which can be combined to the name in very many ways. */
const overlapping = (random: Random, name: string): string[] =>
  times(count(random, 3, 12), () => {
    const start = Math.floor(random() * name.length);
    return name.slice(start, start + count(random, 1, 3)).replace(/[^a-z0-9]/g, '?') || '?';
  });

/** Ends with a letter that no text contains, so that matching has to try every combination. */
const NEVER = ['\u0001', 'ZZ', '%'];

const GLOBS: readonly ((random: Random, name: string) => string)[] = [
  (random, name) => `*+(${overlapping(random, name).join('|')})${pick(random, NEVER)}`,
  (random, name) => `**/*(${overlapping(random, name).join('|')})*(${overlapping(random, name).join('|')})%`,
  (random, name) => `**/+(*(${overlapping(random, name).join('|')})|+(${overlapping(random, name).join('|')}))%`,
  (random, name) => `*${times(count(random, 3, 40), () => `${pickLetter(random, name)}*`).join('')}%`,
  (random, name) => `**/!(${overlapping(random, name).join('|')})*!(*${pickLetter(random, name)}*)%`,
  (random, name) => `**/*(${pickLetter(random, name)}|?)${'?'.repeat(count(random, 5, 60))}%`,
  (random, name) => `${times(count(random, 2, 20), () => `{${overlapping(random, name).join(',')}}`).join('*')}%`,
  (random) => `**/*([a-m]|[g-z]|[!x])${times(count(random, 1, 30), () => '@([a-z]|?(-))').join('')}%`,
  (random, name) => `${times(count(random, 1, 10), () => `**/*${pickLetter(random, name)}*`).join('/')}/%`,
  (random, name) => `**/+(${times(5, () => `+(${overlapping(random, name).join('|')})`).join('|')})!(%)%`,
];

const REGEXES: readonly ((random: Random, name: string) => string)[] = [
  (random, name) => `/(${overlapping(random, name).join('|').replaceAll('?', '.')})+%/`,
  (random) => `/^(.*[a-z])*${pick(random, ['%', '\\d{20}'])}$/`,
  (random) => `/(a|b|[c-z]|.)*[aeiou](.|[a-z]){${count(random, 10, 300)}}%?$/`,
  (random, name) =>
    `/${times(count(random, 3, 30), () => `.*${pickLetter(random, name).replace('.', '\\.')}`).join('')}%/i`,
  (random) => `/((\\w{1,9}){1,9}){1,${count(random, 2, 9)}}%/`,
  (random) => `/(\\w+\\s?)+(${times(20, () => pick(random, ['\\d', '\\D', '.', '[^a]'])).join('')})+%/`,
  (random) => `/^(${times(count(random, 2, 10), () => '(.+)+').join('')})+%$/`,
  (random) => `/(?:${times(count(random, 2, 20), () => '(.?)').join('')}){1,40}%/`,
];

/** Returns reproducible patterns for a seed, designed for texts like the given names. */
export function listMaliciousPatterns(number: number, names: readonly string[], seed = 1): readonly MaliciousPattern[] {
  const random = randomNumbers(seed);
  return Array.from({ length: number }, (_, index) => {
    const name = pick(random, names);
    // Two globs for each regular expression, because globs have more syntax variants.
    if (index % 3 === 2) return { operator: 'regex', pattern: pick(random, REGEXES)(random, name) };
    return { operator: 'glob', pattern: pick(random, GLOBS)(random, name).slice(0, 500) };
  });
}
