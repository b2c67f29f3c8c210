import picomatch from 'picomatch';
import { RE2JS } from 're2js';
import { AppError } from '../errors.js';
import type { Matcher } from './regex.js';

/** Longer patterns are no search for a path; braces may multiply them. */
const MAX_PATTERN = 500;

/** The longest text that the platform's engine gets; its cost grows with the square of the text. */
const MAX_NATIVE_TEXT = 512;

/** What makes the platform's engine try again: each one multiplies its cost by the length of the text. */
const MAX_WILDCARDS = 2;

const OPTIONS = { strictSlashes: true, nonegate: true } as const;

/**
 * A test of a whole text against a `glob`: `*` and `?` stay within a path
 * segment, `**` crosses them, and a leading dot is matched only by a dot.
 *
 * @throws AppError `invalid_input` when the pattern is too long, or nests repeats.
 */
export function compileGlob(pattern: string): Matcher {
  if (pattern.length > MAX_PATTERN) {
    throw new AppError(
      'invalid_input',
      `Expected a glob of at most ${MAX_PATTERN} characters; received ${pattern.length}.`,
    );
  }
  if (pattern === '') return (text) => text === '';
  const bangs = /^!*(?!\()/.exec(pattern)?.[0].length ?? 0;
  const inner = pattern.slice(bangs);
  if (bangs % 2 === 0) return compilePositive(inner);
  const anywhere = inner.startsWith('**/') && !/[@!+?*]\(/.test(inner);
  const positive = anywhere ? compileAnywhere(inner) : compilePositive(inner);
  return (text) => !positive(text);
}

function compilePositive(pattern: string): Matcher {
  if (pattern === '') return (text) => text === '';
  const wildcards = pattern.match(/\*+|\+\(/g)?.length ?? 0;
  if (wildcards > MAX_WILDCARDS || /[+*]\([^)]*[*+?({[]/.test(pattern)) return compileLinear(pattern);
  const native = compileNative(pattern);
  let linear: Matcher | undefined;
  return (text) => {
    if (text.length <= MAX_NATIVE_TEXT) return native.test(text);
    linear ??= compileLinear(pattern);
    return linear(text);
  };
}

/** No segment of it begins with a dot. */
const UNHIDDEN = '(?:[^/.][^/]*)?(?:/+(?:[^/.][^/]*)?)*';

/**
 * What micromatch 3 makes of the `**` and slash after a leading `!`: the rest may begin at any word boundary, and only
 * there. So a name without an ASCII letter, digit or underscore is never met, and `!**` keeps it.
 */
function compileAnywhere(pattern: string): Matcher {
  const rest = pattern.replace(/^(\*\*\/)+/, '');
  return compileRe2(`^(?:${UNHIDDEN}/?\\b${translate(rest)})$`, pattern);
}

function compileNative(pattern: string): RegExp {
  try {
    // The class of a glob is negated by `!`, that of a RegExp by `^`.
    return picomatch.makeRe(pattern.replaceAll('[!', '[^'), OPTIONS);
  } catch (cause) {
    throw new AppError('invalid_input', `Expected a glob; received "${pattern}".`, { cause });
  }
}

/** For many wildcards: the same meaning without looking ahead, on an engine of linear time. */
function compileLinear(pattern: string): Matcher {
  return compileRe2(`^(?:${translate(pattern)})$`, pattern);
}

function compileRe2(source: string, pattern: string): Matcher {
  try {
    const compiled = RE2JS.compile(source, RE2JS.DOTALL);
    return (text) => compiled.test(text);
  } catch (cause) {
    throw new AppError('invalid_input', `Expected a glob; received "${pattern}".`, { cause });
  }
}

const TOKEN = /(?:^|\/)\*\*(?:\/|$)|\*+|\?|\[[!^]?\]?[^\]]*\]|[{},]|\\[^]|[@!+?*]\(|[^]/g;

function translate(pattern: string): string {
  let depth = 0;
  let atStart = true;
  const tokens = pattern.match(TOKEN) ?? [];
  const parts = tokens.map((token, index) => {
    const start = atStart;
    atStart = token.endsWith('/') || (start && /^[{,]$/.test(token));
    if (token === '{') depth += 1;
    if (token === '}') depth -= 1;
    if (token.endsWith('('))
      throw new AppError(
        'invalid_input',
        `Expected a glob with at most ${MAX_WILDCARDS} wildcards beside "${token}"; received "${pattern}".`,
      );
    return translateToken(token, { start, inBraces: depth > 0, next: tokens[index + 1] });
  });
  return parts.join('');
}

interface Place {
  readonly start: boolean;
  readonly inBraces: boolean;
  readonly next: string | undefined;
}

const SEGMENT = '[^/.][^/]*';

function translateToken(token: string, { start, inBraces, next }: Place): string {
  if (/^\/?\*\*\/?$/.test(token) && token.includes('/')) return translateGlobstar(token);
  if (token === '**' && start && next === undefined) return `(?:${SEGMENT}(?:/${SEGMENT})*)?`;
  if (token.startsWith('*')) {
    if (!start) return '[^/]*';
    return next === undefined || /^[/.?]/.test(next) ? SEGMENT : `(?:${SEGMENT})?`;
  }
  if (token === '?') return start ? '[^/.]' : '[^/]';
  if (token.startsWith('[') && token.length > 1)
    return `[${token.slice(1, -1).replace(/^!/, '^').replaceAll('[', '\\[')}]`;
  if (token === '{') return '(?:';
  if (token === '}') return ')';
  if (token === ',' && inBraces) return '|';
  return RE2JS.quote(token.startsWith('\\') ? token.slice(1) : token);
}

/** `a/**`, `**` between slashes and `**` before one: any number of segments, none of them hidden. */
function translateGlobstar(token: string): string {
  if (!token.startsWith('/')) return `(?:${SEGMENT}/)*`;
  return token.endsWith('/') ? `/(?:${SEGMENT}/)*` : `(?:/(?:${SEGMENT}(?:/${SEGMENT})*)?)?`;
}
