import { AppError } from '@trellis/core/errors';

/** The quantifier of a group: `(…)`, `?(…)`, `*(…)` or `+(…)`. */
export type Quantifier = 'once' | 'optional' | 'any' | 'many';

export type GlobNode =
  | { readonly type: 'literal'; readonly char: string }
  /** A bracket expression, which never matches a slash. */
  | { readonly type: 'class'; readonly set: CharSet }
  | { readonly type: 'any' }
  | { readonly type: 'star' }
  /** `**` as a whole segment; with `slash`, together with the slash after it. */
  | { readonly type: 'globstar'; readonly slash: boolean }
  | { readonly type: 'group'; readonly times: Quantifier; readonly branches: readonly Glob[] }
  /** `!(…)`; `crosses` if a branch contains a slash, so that the match may contain slashes too. */
  | { readonly type: 'not'; readonly branches: readonly Glob[]; readonly crosses: boolean };

export type Glob = readonly GlobNode[];

/** Ranges such as `{1..1000}` are expanded; longer ones would make the automaton too large. */
const MAX_RANGE = 1000;

const PREFIXES: Readonly<Record<string, Quantifier>> = { '@(': 'once', '?(': 'optional', '*(': 'any', '+(': 'many' };

/**
 * Parses a glob. The grammar is that of bash with `extglob` and `globstar`, and of picomatch:
 *
 * - `*`, `?`, `**` as a whole segment, `[a-z]`, `[!a-z]`, `[^a-z]`, `[[:alpha:]]`
 * - `{a,b}`, `{1..9}`, `{a..f}`, `(a|b)`, `@(a|b)`, `?(a|b)`, `*(a|b)`, `+(a|b)`, `!(a|b)`
 * - `+` after a class or group repeats it, `?` after a group in parentheses makes it optional
 * - `\x` is the character x, and `"…"` is the text between the quotes
 *
 * An unmatched bracket is an ordinary character.
 *
 * @throws AppError `invalid_input` for a range that runs backwards or is too long.
 */
export const parseGlob = (pattern: string): Glob => new Parser(pattern.replace(/^(?:\.\/)+/, '')).parse();

class Parser {
  readonly #text: string;
  readonly #closings: ReadonlyMap<number, number>;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#closings = findClosings(text);
  }

  parse(): Glob {
    return this.#sequence(this.#text.length);
  }

  #sequence(end: number, separator = ''): GlobNode[] {
    const nodes: GlobNode[] = [];
    const first = this.#at;
    while (this.#at < end && this.#text[this.#at] !== separator) {
      const isWhole = this.#at === first || this.#text[this.#at - 1] === '/';
      const node = this.#node(isWhole, end, separator);
      if (Array.isArray(node)) nodes.push(...node);
      else nodes.push(node);
    }
    return nodes;
  }

  #node(isWhole: boolean, end: number, separator: string): GlobNode | GlobNode[] {
    const char = this.#text.charAt(this.#at);
    const group = this.#group();
    if (group) return this.#quantified(group);
    if (char === '*') return this.#stars(isWhole, end, separator);
    if (char === '[') return this.#class();
    if (char === '{') return this.#brace();
    if (char === '"') return this.#quoted();
    this.#at += 1;
    if (char === '?') return { type: 'any' };
    if (char !== '\\' || this.#at === this.#text.length) return { type: 'literal', char };
    this.#at += 1;
    return { type: 'literal', char: this.#text.charAt(this.#at - 1) };
  }

  /** Parses `(a|b)` with or without one of `@?*+!` before it. */
  #group(): GlobNode | undefined {
    const two = this.#text.slice(this.#at, this.#at + 2);
    const opening = this.#text[this.#at] === '(' ? this.#at : this.#at + 1;
    const closing = this.#closings.get(opening);
    if (this.#text[opening] !== '(' || closing === undefined) return undefined;
    const times = opening === this.#at ? 'once' : PREFIXES[two];
    if (!times && two !== '!(') return undefined;
    const branches = this.#branches(opening, closing, '|');
    if (times) return { type: 'group', times, branches };
    return { type: 'not', branches, crosses: branches.some(hasSlash) };
  }

  #branches(opening: number, closing: number, separator: string): Glob[] {
    const branches: Glob[] = [];
    this.#at = opening;
    do {
      this.#at += 1;
      branches.push(this.#sequence(closing, separator));
    } while (this.#at < closing);
    this.#at = closing + 1;
    return branches;
  }

  #quantified(node: GlobNode): GlobNode {
    const quantifier = this.#text[this.#at];
    const isGroup = this.#text[this.#at + 1] === '(' && this.#closings.has(this.#at + 1);
    if (isGroup || (quantifier !== '+' && (quantifier !== '?' || this.#text[this.#at - 1] !== ')'))) return node;
    this.#at += 1;
    return { type: 'group', times: quantifier === '+' ? 'many' : 'optional', branches: [[node]] };
  }

  #stars(isWhole: boolean, end: number, separator: string): GlobNode {
    const start = this.#at;
    while (this.#text[this.#at] === '*' && !(this.#text[this.#at + 1] === '(' && this.#closings.has(this.#at + 1)))
      this.#at += 1;
    const next = this.#at < end ? this.#text[this.#at] : separator;
    const isGlobstar = this.#at - start === 2 && isWhole && (next === '/' || next === separator);
    if (!isGlobstar) return { type: 'star' };
    if (next === '/') this.#at += 1;
    return { type: 'globstar', slash: next === '/' };
  }

  #quoted(): GlobNode[] | GlobNode {
    const end = this.#text.indexOf('"', this.#at + 1);
    const text = end < 0 ? '"' : this.#text.slice(this.#at + 1, end);
    this.#at = end < 0 ? this.#at + 1 : end + 1;
    return literals(text);
  }

  #class(): GlobNode {
    const found = readClass(this.#text, this.#at);
    if (!found) {
      this.#at += 1;
      return { type: 'literal', char: '[' };
    }
    const text = this.#text.slice(this.#at, found.end);
    this.#at = found.end;
    const node: GlobNode = { type: 'class', set: found.set };
    if (/[-*+?.^${}()|[\]!\\]/.test(text.slice(1, -1))) return this.#quantified(node);
    // As in picomatch, `[slug].md` also matches a file of that name.
    return this.#quantified({ type: 'group', times: 'once', branches: [[node], literals(text)] });
  }

  #brace(): GlobNode | GlobNode[] {
    const opening = this.#at;
    const closing = this.#closings.get(opening);
    if (closing === undefined) {
      this.#at += 1;
      return { type: 'literal', char: '{' };
    }
    const span = this.#range(this.#text.slice(opening + 1, closing));
    if (span) {
      this.#at = closing + 1;
      return this.#quantified(span);
    }
    const branches = this.#branches(opening, closing, ',');
    if (branches.length > 1) return this.#quantified({ type: 'group', times: 'once', branches });
    return [...literals('{'), ...(branches[0] ?? []), ...literals('}')];
  }

  /** Parses `{1..9}` and `{a..f}`. */
  #range(text: string): GlobNode | undefined {
    const [, from, to] = /^([A-Za-z])\.\.([A-Za-z])$/.exec(text) ?? [];
    if (from !== undefined && to !== undefined)
      return { type: 'class', set: from < to ? range(from, to) : range(to, from) };
    const [, first, last] = /^(-?\d{1,15})\.\.(-?\d{1,15})$/.exec(text) ?? [];
    if (first === undefined || last === undefined) return undefined;
    const [low, high] = [Number(first), Number(last)].sort((one, other) => one - other) as [number, number];
    if (high - low >= MAX_RANGE)
      throw invalid(`Expected a glob whose ranges have at most ${MAX_RANGE} numbers; received "{${text}}".`);
    const width = /^-?0\d/.test(first) || /^-?0\d/.test(last) ? Math.max(first.length, last.length) : 0;
    const numbers = Array.from({ length: high - low + 1 }, (_, index) => pad(low + index, width));
    return { type: 'group', times: 'once', branches: numbers.map(literals) };
  }
}

const pad = (value: number, width: number): string =>
  value < 0 ? `-${String(-value).padStart(width - 1, '0')}` : String(value).padStart(width, '0');

const literals = (text: string): GlobNode[] => text.split('').map((char) => ({ type: 'literal', char }));

const hasSlash = (glob: Glob): boolean =>
  glob.some((node) => {
    if (node.type === 'literal') return node.char === '/';
    return node.type === 'globstar' || ('branches' in node && node.branches.some(hasSlash));
  });

/** Maps each opening bracket outside classes and quotes to its closing bracket, in one pass. */
function findClosings(text: string): ReadonlyMap<number, number> {
  const closings = new Map<number, number>();
  const open: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '\\') at += 1;
    else if (char === '[') at = (readClass(text, at)?.end ?? at + 1) - 1;
    else if (char === '"') at = Math.max(at, text.indexOf('"', at + 1));
    else if (char === '(' || char === '{') open.push(at);
    else if (char === ')' || char === '}') close(char === ')' ? '(' : '{', at);
  }
  return closings;

  function close(opening: string, at: number): void {
    const place = open.findLastIndex((one) => text[one] === opening);
    if (place < 0) return;
    closings.set(open[place] ?? 0, at);
    open.length = place;
  }
}

/** Reads a bracket expression. Returns `undefined` if it is not closed. */
function readClass(text: string, start: number): { readonly set: CharSet; readonly end: number } | undefined {
  let at = start + 1;
  const isNegated = text[at] === '!' || text[at] === '^';
  if (isNegated) at += 1;
  const set: (readonly [number, number])[] = [];
  const first = at;
  let reversed: string | undefined;
  while (at < text.length && (text[at] !== ']' || at === first)) {
    const posix = text[at] === '[' ? POSIX[/^\[:([a-z]+):\]/.exec(text.slice(at, at + 10))?.[1] ?? ''] : undefined;
    if (posix) {
      set.push(...posix);
      at = text.indexOf(':]', at) + 2;
      continue;
    }
    const [from, afterFrom] = readClassChar(text, at);
    const isRange = text[afterFrom] === '-' && afterFrom + 1 < text.length && text[afterFrom + 1] !== ']';
    const [to, afterTo] = isRange ? readClassChar(text, afterFrom + 1) : [from, afterFrom];
    if (isRange && from > to) reversed ??= text.slice(at, afterTo);
    set.push(...(isRange ? range(from, to) : single(from)));
    at = afterTo;
  }
  if (at >= text.length) return undefined;
  if (reversed)
    throw invalid(`Expected a glob whose ranges go from the lower to the higher character; received "${reversed}".`);
  const chosen = isNegated ? invert(set) : set;
  return { set: withoutSlash(chosen), end: at + 1 };
}

const readClassChar = (text: string, at: number): readonly [string, number] =>
  text[at] === '\\' && at + 1 < text.length ? [text.charAt(at + 1), at + 2] : [text.charAt(at), at + 1];

const withoutSlash = (set: CharSet): CharSet => invert([...invert(set), ...invert(NOT_SLASH)]);

const invalid = (message: string): AppError => new AppError('invalid_input', message);

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

function range(from: string, to: string): CharSet {
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
const POSIX: Readonly<Record<string, CharSet | undefined>> = {
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
