import { AppError } from '@trellis/core/errors';
import { LRUCache } from 'lru-cache';
import { compileRegex, REGEX_TOKEN } from './compile-regex.js';
import { type Automaton, closure, createAutomaton, type GlobOptions, step } from './glob-automaton.js';
import { type Glob, type GlobNode, parseGlob } from './parse-glob.js';

export type PatternOperator = 'regex' | 'glob';

/** The automaton of a compiled pattern can take a few hundred kilobytes. */
const MAX_PATTERNS = 200;

/** Caches compiled patterns by their text. */
export class PatternCache {
  readonly #matchers = { regex: patternCache(), glob: patternCache() };

  /** @throws AppError `invalid_input` when the pattern is malformed, or cannot be tested in linear time. */
  get(operator: PatternOperator, pattern: string): Matcher {
    const known = this.#matchers[operator].get(pattern);
    if (known) return known;
    const matcher = operator === 'regex' ? compileRegex(pattern) : compileGlob(pattern);
    this.#matchers[operator].set(pattern, matcher);
    return matcher;
  }
}

const patternCache = (): LRUCache<string, Matcher> => new LRUCache({ max: MAX_PATTERNS });

/**
 * Tests a text against a caller's pattern in time that is linear in the text.
 *
 * @param check Called regularly in a long text; an error that it throws ends the test.
 */
export type Matcher = (text: string, check?: () => void) => boolean;

/** No practical pattern is longer, and braces may multiply its size. */
const MAX_PATTERN = 500;

/**
 * Compiles a test of a whole text against a glob, which takes time proportional to the text. `*` and `?` stay within
 * a path segment, `**` crosses segments, and no wildcard matches a dot at the beginning of a segment.
 *
 * @throws AppError `invalid_input` when the pattern is too long or too complex.
 */
export function compileGlob(pattern: string, options: GlobOptions = { dot: false }): Matcher {
  if (pattern.length > MAX_PATTERN) {
    throw new AppError(
      'invalid_input',
      `Expected a glob of at most ${MAX_PATTERN} characters; received ${pattern.length}.`,
    );
  }
  if (pattern === '') return (text) => text === '';
  const bangs = /^!*(?!\()/.exec(pattern)?.[0].length ?? 0;
  const inner = pattern.slice(bangs);
  if (bangs % 2 === 0) return compilePositive(inner, options);
  const positive = isAnywhere(inner)
    ? compilePositive(inner.replace(/^(\*\*\/)+/, ''), { ...options, anywhere: true })
    : compilePositive(inner, options);
  return (text, check) => !positive(text, check);
}

/**
 * Compiles a test of a path against the globs of a configuration. Unlike in a filter, `docs/**` also matches the folder
 * `docs`, so that a folder is treated like its contents. As in picomatch, this does not apply after a `*`, because the
 * path may be that of a file.
 *
 * @throws AppError `invalid_input` when a glob is too long or too complex.
 */
export function compilePathGlobs(globs: readonly string[], options?: GlobOptions): (path: string) => boolean {
  const matchers = globs.map((glob): Matcher => {
    const matches = compileGlob(glob, options);
    return /[^*](?:\/\*\*)+$/.test(glob) ? (path) => matches(path) || matches(`${path}/`) : matches;
  });
  return (path) => matchers.some((matches) => matches(path));
}

/**
 * Whether a pattern after a leading `!` starts with `**` and a slash. As in micromatch 3, its remainder may then begin
 * at any word boundary, and only there. So a name without an ASCII letter, digit or underscore never matches, and the
 * negated pattern includes it.
 */
const isAnywhere = (inner: string): boolean => inner.startsWith('**/') && !/[@!+?*]\(/.test(inner);

function compilePositive(pattern: string, options: GlobOptions): Matcher {
  if (pattern === '') return (text) => text === '';
  const glob = parseGlob(pattern);
  const automaton = new LazyAutomaton(createAutomaton(glob, options));
  const prefix = options.anywhere ? '' : leadingText(glob);
  if (!options.anywhere && prefix.length === glob.length) return (text) => text === prefix;
  const suffix = leadingText(glob.toReversed()).split('').reverse().join('');
  return (text, check) => text.startsWith(prefix) && text.endsWith(suffix) && automaton.test(text, check);
}

/** Returns the common prefix of all matches. Most texts that do not match differ in it, which is a fast test. */
function leadingText(glob: Glob): string {
  const end = glob.findIndex(({ type }) => type !== 'literal');
  const nodes = glob.slice(0, end < 0 ? glob.length : end) as Extract<GlobNode, { type: 'literal' }>[];
  return nodes.map(({ char }) => char).join('');
}

/** A set of states of the automaton, and the known sets that follow it. */
interface DfaState {
  readonly kernel: readonly number[];
  readonly next: (DfaState | undefined)[];
  isFinal: boolean | undefined;
}

/** The number of cached transitions per pattern, which take about 100 kB. */
const MAX_TRANSITIONS = 16_384;

/** Reading the clock takes as long as testing some hundred code units. */
const CODES_PER_CHECK = 4096;

/**
 * Tests texts in one pass over their code units. The deterministic automaton is built on demand and discarded when it
 * grows too large, so that neither time nor memory is exponential in the pattern.
 */
class LazyAutomaton {
  readonly #automaton: Automaton;
  readonly #maxStates: number;
  #known = new Map<string, DfaState>();
  #start: DfaState;

  constructor(automaton: Automaton) {
    this.#automaton = automaton;
    this.#maxStates = Math.max(64, Math.floor(MAX_TRANSITIONS / automaton.classes.count));
    this.#start = this.#state([automaton.start]);
  }

  /** @param check Called regularly in a long text; an error that it throws ends the test. */
  test(text: string, check?: () => void): boolean {
    const { classes } = this.#automaton;
    let state = this.#start;
    for (let index = 0; index < text.length; index += 1) {
      const symbol = classes.of(text.charCodeAt(index));
      state = state.next[symbol] ?? this.#follow(state, symbol);
      if (state.kernel.length === 0) return false;
      if (index % CODES_PER_CHECK === CODES_PER_CHECK - 1) check?.();
    }
    return (state.isFinal ??= this.#isFinal(state));
  }

  #follow(state: DfaState, symbol: number): DfaState {
    const kernel = step(this.#automaton, closure(this.#automaton, state.kernel, symbol), symbol);
    const next = this.#state(kernel);
    state.next[symbol] = next;
    return next;
  }

  #state(kernel: readonly number[]): DfaState {
    const key = kernel.join();
    const known = this.#known.get(key);
    if (known) return known;
    if (this.#known.size >= this.#maxStates) this.#reset();
    const state = { kernel, next: [], isFinal: undefined };
    this.#known.set(key, state);
    return state;
  }

  #reset(): void {
    this.#known = new Map();
    this.#start = { kernel: this.#start.kernel, next: [], isFinal: undefined };
    this.#known.set(this.#start.kernel.join(), this.#start);
  }

  #isFinal({ kernel }: DfaState): boolean {
    const { classes, final } = this.#automaton;
    return closure(this.#automaton, kernel, classes.count).includes(final);
  }
}

/** Text that every match of a pattern contains. Its search takes a fraction of the time of the pattern. */
export interface RequiredText {
  /** A match contains at least one of these, in ASCII. */
  readonly anyOf: readonly string[];
  readonly ignoresCase: boolean;
}

/** Returns the text that all matches of a valid pattern have in common; `undefined` if none was found. */
export function findRequiredText(operator: PatternOperator, pattern: string): RequiredText | undefined {
  if (operator === 'glob') return pattern.startsWith('!') ? undefined : toRequired(ofGlob(parseGlob(pattern)), false);
  const pieces = pattern.split('/');
  const ignoresCase = pieces.at(-1)?.includes('i') ?? false;
  // As in compileRegex().
  const source = pieces.slice(1, -1).join('/').replace('\\\\', '\\');
  return toRequired(new RegexReader(source, ignoresCase).read(), ignoresCase);
}

function toRequired({ exact, contains }: Part, ignoresCase: boolean): RequiredText | undefined {
  const anyOf = better(contains, exact);
  return anyOf && { anyOf, ignoresCase };
}

/** What is known of the texts that a part of a pattern matches. */
interface Part {
  /** All texts that the part matches, if they are few. */
  readonly exact?: Texts;
  /** Each text that the part matches contains one of these. */
  readonly contains?: Texts;
}

type Texts = readonly string[];

const UNKNOWN: Part = {};
const EMPTY: Part = { exact: [''] };

/** More alternatives would take as long to search as the pattern. */
const MAX_TEXTS = 8;

/** Returns the texts whose shortest is longer, as long texts are rare. */
function better(one: Texts | undefined, other: Texts | undefined): Texts | undefined {
  const [first, second] = [one, other].map((texts) => shortest(texts));
  if (Math.max(first ?? 0, second ?? 0) === 0) return undefined;
  return (second ?? 0) > (first ?? 0) ? other : one;
}

const shortest = (texts: Texts | undefined): number =>
  texts === undefined ? 0 : Math.min(...texts.map(({ length }) => length));

/** Joins the texts of neighbouring parts as long as they are few. */
function inSequence(parts: readonly Part[]): Part {
  let run: Texts = [''];
  let contains: Texts | undefined;
  let isExact = true;
  for (const part of parts) {
    const { exact } = part;
    if (exact && run.length * exact.length <= MAX_TEXTS) {
      run = run.flatMap((start) => exact.map((end) => start + end));
      continue;
    }
    isExact = false;
    contains = better(better(contains, run), part.contains);
    run = exact ?? [''];
  }
  return isExact ? { exact: run } : { contains: better(contains, run) };
}

function oneOf(parts: readonly Part[]): Part {
  const exact = parts.flatMap((part) => part.exact ?? []);
  if (parts.every((part) => part.exact) && exact.length <= MAX_TEXTS) return { exact };
  const contained = parts.map((part) => better(part.contains, part.exact));
  const contains = contained.flatMap((texts) => texts ?? []);
  return contained.every((texts) => texts) && contains.length <= MAX_TEXTS ? { contains } : UNKNOWN;
}

const optional = ({ exact }: Part): Part => (exact && exact.length < MAX_TEXTS ? { exact: [...exact, ''] } : UNKNOWN);

const repeated = ({ exact, contains }: Part): Part => ({ contains: better(contains, exact) });

const ofGlob = (glob: Glob): Part => inSequence(glob.map(ofNode));

function ofNode(node: GlobNode): Part {
  if (node.type === 'literal') return ofCharacter(node.char);
  if (node.type !== 'group') return UNKNOWN;
  const group = oneOf(node.branches.map(ofGlob));
  return { once: group, optional: optional(group), many: repeated(group), any: UNKNOWN }[node.times];
}

/** Half of a surrogate pair is no text of its own, and SQLite ignores case in ASCII only. */
const ofCharacter = (char: string): Part => (/^[ -~]$/.test(char) ? { exact: [char] } : UNKNOWN);

/** Reads the syntax that compileRegex() accepts. */
class RegexReader {
  readonly #tokens: readonly string[];
  readonly #ignoresCase: boolean;
  #at = 0;

  constructor(source: string, ignoresCase: boolean) {
    this.#tokens = source.match(REGEX_TOKEN) ?? [];
    this.#ignoresCase = ignoresCase;
  }

  read(): Part {
    const branches: Part[] = [];
    let sequence: Part[] = [];
    for (; this.#at < this.#tokens.length; this.#at += 1) {
      const token = this.#tokens[this.#at] ?? '';
      if (token === ')') break;
      if (token === '|') {
        branches.push(inSequence(sequence));
        sequence = [];
      } else if (/^(?:[*+?]|\{\d)/.test(token)) {
        sequence.push(repeat(sequence.pop() ?? UNKNOWN, token));
      } else {
        sequence.push(this.#part(token));
      }
    }
    return oneOf([...branches, inSequence(sequence)]);
  }

  #part(token: string): Part {
    if (token.startsWith('(')) {
      this.#at += 1;
      return this.read();
    }
    if (['^', '$', '\\b', '\\B'].includes(token)) return EMPTY;
    if (token === '.' || /^\\\w/.test(token)) return UNKNOWN;
    const char = token.startsWith('\\') ? token.slice(1) : (/^\[([^\\^\]])\]$/.exec(token)?.[1] ?? token);
    // Two characters beyond ASCII are forms of these letters.
    return this.#ignoresCase && /^[ks]$/i.test(char) ? UNKNOWN : ofCharacter(char);
  }
}

function repeat(part: Part, token: string): Part {
  if (token.startsWith('?')) return optional(part);
  return /^(?:\*|\{0)/.test(token) ? UNKNOWN : repeated(part);
}
