/** A set of UTF-16 code units as inclusive ranges. */
export type CharSet = readonly (readonly [from: number, to: number])[];

const MAX_CODE = 0xffff;

export const ANY: CharSet = [[0, MAX_CODE]];
const SLASH_CODE = '/'.charCodeAt(0);
export const SLASH: CharSet = [[SLASH_CODE, SLASH_CODE]];
export const NOT_SLASH: CharSet = invert(SLASH);
export const DOT: CharSet = single('.');
/** The characters of `\w` in a regular expression. */
export const WORD: CharSet = [...range('0', '9'), ...range('A', 'Z'), ...single('_'), ...range('a', 'z')];

export function single(char: string): CharSet {
  return range(char, char);
}

export function range(from: string, to: string): CharSet {
  return [[from.charCodeAt(0), to.charCodeAt(0)]];
}

/** Returns the complement of a set. */
export function invert(set: CharSet): CharSet {
  const sorted = [...set].sort(([one], [other]) => one - other);
  const gaps: [number, number][] = [];
  let next = 0;
  for (const [from, to] of sorted) {
    if (from > next) gaps.push([next, from - 1]);
    next = Math.max(next, to + 1);
  }
  if (next <= MAX_CODE) gaps.push([next, MAX_CODE]);
  return gaps;
}

const has = (set: CharSet, code: number): boolean => set.some(([from, to]) => from <= code && code <= to);

/** POSIX character classes in the C locale, as bash and micromatch name them. */
export const POSIX: Readonly<Record<string, CharSet | undefined>> = {
  __proto__: null as never,
  alnum: [...range('0', '9'), ...range('A', 'Z'), ...range('a', 'z')],
  alpha: [...range('A', 'Z'), ...range('a', 'z')],
  ascii: [[0, 0x7f]],
  blank: [...single(' '), ...single('\t')],
  cntrl: [[0, 0x1f], ...single('\x7f')],
  digit: range('0', '9'),
  graph: range('!', '~'),
  lower: range('a', 'z'),
  print: range(' ', '~'),
  punct: [...range('!', '/'), ...range(':', '@'), ...range('[', '`'), ...range('{', '~')],
  space: [...range('\t', '\r'), ...single(' ')],
  upper: range('A', 'Z'),
  word: WORD,
  xdigit: [...range('0', '9'), ...range('A', 'F'), ...range('a', 'f')],
};

/**
 * Divides all code units into classes whose members belong to the same sets of a list, so that an automaton needs a
 * transition for each class rather than for each code unit.
 */
export class CharClasses {
  readonly count: number;
  /** The first code unit of each run of the same class; `#classes` contains the class of each run. */
  readonly #starts: readonly number[];
  readonly #classes: readonly number[];
  readonly #latin = new Uint16Array(256);

  constructor(sets: readonly CharSet[]) {
    const starts = new Set([0]);
    for (const [from, to] of sets.flat()) starts.add(from).add(to + 1);
    this.#starts = [...starts].filter((start) => start <= MAX_CODE).sort((one, other) => one - other);
    const known = new Map<string, number>();
    this.#classes = this.#starts.map((start) => {
      const key = sets.map((set) => (has(set, start) ? '1' : '0')).join('');
      const found = known.get(key) ?? known.size;
      known.set(key, found);
      return found;
    });
    this.count = known.size;
    for (let code = 0; code < 256; code += 1) this.#latin[code] = this.#find(code);
  }

  of(code: number): number {
    return code < 256 ? (this.#latin[code] ?? 0) : this.#find(code);
  }

  /** Returns 1 for each class within a set; the last element stands for the end of the text. */
  mask(set: CharSet, atEnd: 0 | 1 = 0): Uint8Array {
    const mask = new Uint8Array(this.count + 1);
    this.#starts.forEach((start, index) => {
      if (has(set, start)) mask[this.#classes[index] ?? 0] = 1;
    });
    mask[this.count] = atEnd;
    return mask;
  }

  #find(code: number): number {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= code) low = middle;
      else high = middle - 1;
    }
    return this.#classes[low] ?? 0;
  }
}
