import { AppError } from '../errors.js';

export interface Translation {
  /** The same pattern in RE2's words; JavaScript's dot is `(?:.)`. */
  readonly re2: string;
  /** Whether JavaScript's own engine takes at most the square of the text for it. */
  readonly cheap: boolean;
}

/** How many ways of bounded choice (`?`, `{1,3}`, `a|b`) may multiply before a pattern is not cheap. */
const MAX_CHOICES = 16;

const SPACE = '\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';

/** A class, a group's opening, an escape, a repetition, or one character. */
const TOKEN =
  /\[\^?(?:\\[^]|[^\]\\])*\]|\(\?(?:<?[=!]|:|<[A-Za-z_$][\w$]*>)|\\(?:u\{[\da-fA-F]+\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Za-z]|k<\w+>|[pP]\{[^}]*\}|[1-9]\d*|[^])|(?:[*+?]|\{\d+(?:,\d*)?\})\??|[^]/g;

const UNSUPPORTED: readonly [RegExp, string][] = [
  [/^\(\?=/, 'a lookahead'],
  [/^\(\?!/, 'a negative lookahead'],
  [/^\(\?<[=!]/, 'a lookbehind'],
  [/^\\[1-9]/, 'a backreference'],
  [/^\\k/, 'a named backreference'],
];

/**
 * Reads a JavaScript pattern once: says it in RE2's words and judges its cost.
 *
 * @throws AppError `invalid_input` for what needs an engine that goes back in the text.
 */
export function translateRegex(source: string): Translation {
  const tokens = source.match(TOKEN) ?? [];
  for (const token of tokens) refuseUnsupported(token, source);
  return { re2: tokens.map(translateToken).join(''), cheap: isCheap(tokens) };
}

function refuseUnsupported(token: string, source: string): void {
  const name = UNSUPPORTED.find(([form]) => form.test(token))?.[1];
  if (name === undefined) return;
  throw new AppError(
    'invalid_input',
    `Expected a regex without ${name}, which takes no bounded time; received "${token}" in "${source}".`,
  );
}

function translateToken(token: string): string {
  if (token === '.') return '(?:.)';
  if (token === '[]') return '[^\\x{0}-\\x{10ffff}]';
  if (token === '[^]') return '[\\x{0}-\\x{10ffff}]';
  if (token.startsWith('[')) return translateClass(token);
  if (token.startsWith('(?<')) return '(';
  if (token.startsWith('\\')) return translateEscape(token, false);
  return token;
}

function translateClass(token: string): string {
  const inside = token
    .slice(1, -1)
    .replace(/\\(?:u\{[\da-fA-F]+\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Za-z]|[pP]\{[^}]*\}|[^])|\[/g, (part) =>
      part === '[' ? '\\[' : translateEscape(part, true),
    );
  return `[${inside}]`;
}

function translateEscape(token: string, inClass: boolean): string {
  const letter = token.charAt(1);
  if (letter === 's') return inClass ? SPACE : `[${SPACE}]`;
  if (letter === 'S' && !inClass) return `[^${SPACE}]`;
  if (letter === 'b' && inClass) return '\\x{8}';
  if (letter === 'u' || letter === 'x') {
    const digits = /[\da-fA-F]+/.exec(token)?.[0];
    return digits === undefined ? letter : `\\x{${digits}}`;
  }
  if (letter === 'c') return `\\x{${(token.charCodeAt(2) % 32).toString(16)}}`;
  if (letter === '0') return '\\x{0}';
  // A letter without a meaning stands for itself, as in JavaScript; RE2 would give `\A` and others one.
  if (/[A-Za-z]/.test(letter) && !/[dDwWSbBtnrfvpP]/.test(letter)) return letter;
  if (letter > '\x7f') return letter;
  return token;
}

/**
 * Each unbounded repetition, and a start that is not anchored, multiplies the
 * cost by the length of the text; two of them are taken. A repeated group may
 * cost more than any power, and is not.
 */
function isCheap(tokens: readonly string[]): boolean {
  let powers = tokens[0] === '^' && !tokens.includes('|') ? 0 : 1;
  let choices = 1;
  for (const [index, token] of tokens.entries()) {
    if (token === '|') choices += 1;
    if (!isRepetition(token)) continue;
    if (tokens[index - 1] === ')') return false;
    const most = mostRepeats(token);
    if (most === Infinity) powers += 1;
    else choices *= most + 1;
  }
  return powers <= 2 && choices <= MAX_CHOICES;
}

const isRepetition = (token: string): boolean => /^(?:[*+?]|\{\d)/.test(token);

function mostRepeats(token: string): number {
  if (/^[*+]/.test(token)) return Infinity;
  if (token.startsWith('?')) return 1;
  const [, least, comma, most] = /^\{(\d+)(,?)(\d*)\}/.exec(token) ?? [];
  if (comma === ',' && most === '') return Infinity;
  return Number(most === '' ? least : most);
}
