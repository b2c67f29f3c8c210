import { REGEX_TOKEN } from './compile-regex.js';
import { type Glob, type GlobNode, parseGlob } from './parse-glob.js';
import type { PatternOperator } from './pattern-cache.js';

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
