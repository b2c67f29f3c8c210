import { AppError } from '@trellis/core/errors';
import { RE2JS } from 're2js';
import type { Matcher } from './patterns.js';

/** No practical pattern is longer, and the cost of compiling grows with the length. */
const MAX_PATTERN = 1000;

/**
 * The maximum number of steps (characters times instructions) that RE2JS takes for one text when its caches do not
 * help. A step takes at most 50 ns, and the engine cannot be interrupted.
 */
const MAX_STEPS = 50_000_000;

/**
 * Compiles the text of a `regex` operator, `/source/flags`. Slashes inside the source need no escape. As in Gatsby, a
 * text without two slashes consists of flags only.
 *
 * Matching takes time that is linear in the text: RE2JS does it, and JavaScript's engine only checks the syntax.
 *
 * @throws AppError `invalid_input` with the part that is not supported.
 */
export function compileRegex(text: string): Matcher {
  if (text.length > MAX_PATTERN) {
    throw new AppError(
      'invalid_input',
      `Expected a regex of at most ${MAX_PATTERN} characters; received ${text.length}.`,
    );
  }
  const pieces = text.split('/');
  const flags = parseFlags(pieces.at(-1) ?? '');
  const source = pieces.slice(1, -1).join('/').replace('\\\\', '\\');
  if (source === '') return () => true;
  return compileSource(source, flags);
}

function compileSource(source: string, flags: string): Matcher {
  const re2 = translateRegex(source);
  assertValid(source, flags);
  const pattern = compileLinear(re2, flags, source);
  const maxLength = Math.floor(MAX_STEPS / pattern.programSize());
  // RE2 ends lines at `\n` only. The other line ends are as good, unless the pattern tells them apart.
  const isByLine = flags.includes('m') && !TELLS_LINE_ENDS.test(source);
  return (text) => {
    if (text.length > maxLength) throw tooLong(source, maxLength);
    return pattern.test(isByLine ? text.replaceAll(/[\r\u2028\u2029]/g, '\n') : text);
  };
}

/** A line end in a pattern: itself, as an escape, or in a range or class of characters. */
const TELLS_LINE_ENDS = /[\n\r\u2028\u2029]|\\[cn]|\\[rux]|\\[0tv]-|\\[pP]\{Z/;

const tooLong = (source: string, maxLength: number): AppError =>
  new AppError(
    'invalid_input',
    `The regex "${source}" is too complex for texts of more than ${maxLength} characters. Shorten it, or filter by other fields first.`,
  );

/** Returns JavaScript's flags without those that do not affect whether a text matches. */
function parseFlags(flags: string): string {
  if (!/^[dgimsuy]*$/.test(flags) || new Set(flags).size !== flags.length) {
    throw new AppError('invalid_input', `Expected a regex such as "/source/flags"; received the flags "${flags}".`);
  }
  return flags.replace(/[dgy]/g, '');
}

function compileLinear(re2: string, flags: string, source: string): RE2JS {
  let options = flags.includes('i') ? RE2JS.CASE_INSENSITIVE : 0;
  if (flags.includes('m')) options |= RE2JS.MULTILINE;
  if (flags.includes('s')) options |= RE2JS.DOTALL;
  try {
    return RE2JS.compile(flags.includes('s') ? re2 : withoutLineEnds(re2), options);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.replace('error parsing regexp: ', '') : 'unknown';
    throw new AppError('invalid_input', `The regex "${source}" is invalid: ${reason}.`, { cause });
  }
}

/** JavaScript's dot, marked by the translation, excludes four line terminators and not only `\n`. */
const withoutLineEnds = (re2: string): string => re2.replaceAll('(?:.)', '[^\\n\\r\\x{2028}\\x{2029}]');

/** Rejects patterns that JavaScript rejects, because RE2 might interpret them differently. Never runs the pattern. */
function assertValid(source: string, flags: string): void {
  try {
    new RegExp(source, flags);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'Invalid regular expression';
    throw new AppError('invalid_input', `${reason}.`, { cause });
  }
}

/**
 * The maximum number of characters and classes in a pattern after RE2 has expanded its counted repetitions. A pattern
 * of this size compiles within a few milliseconds.
 */
const MAX_PARTS = 2000;

const SPACE = '\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';

/** Matches a class, the opening of a group, an escape, a repetition, or one character. */
export const REGEX_TOKEN =
  /\[\^?(?:\\[^]|[^\]\\])*\]|\(\?(?:<?[=!]|:|<[A-Za-z_$][\w$]*>)|\\(?:u\{[\da-fA-F]+\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Za-z]|k<\w+>|[pP]\{[^}]*\}|[1-9]\d*|[^])|(?:[*+?]|\{\d+(?:,\d*)?\})\??|[^]/g;

const UNSUPPORTED: readonly [RegExp, string][] = [
  [/^\(\?=/, 'a lookahead'],
  [/^\(\?!/, 'a negative lookahead'],
  [/^\(\?<[=!]/, 'a lookbehind'],
  [/^\\[1-9]/, 'a backreference'],
  [/^\\k/, 'a named backreference'],
];

/**
 * Translates a JavaScript pattern into RE2's syntax. JavaScript's dot becomes `(?:.)`.
 *
 * @throws AppError `invalid_input` for elements that need backtracking and for repetitions that are too large.
 */
function translateRegex(source: string): string {
  const tokens = source.match(REGEX_TOKEN) ?? [];
  for (const token of tokens) assertSupported(token, source);
  assertPartLimit(tokens, source);
  return tokens.map(translateToken).join('');
}

function assertSupported(token: string, source: string): void {
  const name = UNSUPPORTED.find(([form]) => form.test(token))?.[1];
  if (name === undefined) return;
  throw new AppError(
    'invalid_input',
    `Expected a regex without ${name}, which can't run in linear time; received "${token}" in "${source}".`,
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
  // RE2 has the names of scripts and categories without the name of the property.
  if (letter === 'p' || letter === 'P') return token.replace(/(?:Script|sc|General_Category|gc)=/u, '');
  if (letter === '0') return '\\x{0}';
  // An escaped letter without a meaning in JavaScript is that letter; RE2 gives a meaning to `\A` and others.
  if (/[A-Za-z]/.test(letter) && !/[dDwWSbBtnrfvpP]/.test(letter)) return letter;
  if (letter > '\x7f') return letter;
  return token;
}

function assertPartLimit(tokens: readonly string[], source: string): void {
  let group = { parts: 0, last: 0 };
  const outer: (typeof group)[] = [];
  for (const token of tokens) {
    const repeats = writtenRepeats(token);
    if (repeats !== undefined) {
      group = { parts: group.parts + group.last * (repeats - 1), last: group.last * repeats };
    } else if (token.startsWith('(')) {
      outer.push(group);
      group = { parts: 0, last: 0 };
    } else if (token === ')') {
      const { parts } = group;
      group = { parts: (outer.pop()?.parts ?? 0) + parts, last: parts };
    } else {
      group = { parts: group.parts + 1, last: 1 };
    }
    if (group.parts > MAX_PARTS) {
      throw new AppError(
        'invalid_input',
        `Expected a regex with at most ${MAX_PARTS} parts after expanding its repetitions; received "${source}".`,
      );
    }
  }
}

/** Returns how many copies RE2 makes of the element before a repetition, or `undefined` for any other token. */
function writtenRepeats(token: string): number | undefined {
  if (/^[*+?]/.test(token)) return 1;
  const [, least, most] = /^\{(\d+)(?:,(\d*))?\}/.exec(token) ?? [];
  return least === undefined ? undefined : Math.max(1, Number(least), Number(most ?? 0));
}
