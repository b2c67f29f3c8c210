import { RE2JS } from 're2js';
import { AppError } from '../core/errors.js';
import type { Matcher } from './matcher.js';
import { translateRegex } from './regex-syntax.js';

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
  return (text) => {
    if (text.length > maxLength) throw tooLong(source, maxLength);
    return pattern.test(text);
  };
}

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
