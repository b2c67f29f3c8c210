import { RE2JS } from 're2js';
import { AppError } from '../errors.js';
import type { Matcher } from './matcher.js';
import { translateRegex } from './regex-syntax.js';

/** Longer patterns are no search for a name; the cost of compiling one grows with its length. */
const MAX_PATTERN = 1000;

/**
 * How many steps RE2JS may take for one text when its caches do not help: each character against each instruction. A
 * step costs at most 50 ns, and the engine cannot be interrupted.
 */
const MAX_STEPS = 50_000_000;

/**
 * A test for the text of a `regex` operator, `/source/flags`. Slashes inside
 * the source need no escape; without two slashes all of it is flags, as in the
 * engine that the queries were written for.
 *
 * Takes time that is linear in the text: JavaScript's engine only checks the
 * syntax, and RE2JS does the matching.
 *
 * @throws AppError `invalid_input` naming the part that cannot be expressed.
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
  requireValid(source, flags);
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
    `The regex "${source}" is too complex for texts of more than ${maxLength} characters. Use a shorter one, or filter by other fields first.`,
  );

/** JavaScript's flags but `g` and `y`, which only say where a search goes on. */
function parseFlags(flags: string): string {
  if (!/^[dgimsuy]*$/.test(flags) || new Set(flags).size !== flags.length) {
    throw new AppError('invalid_input', `Expected a regex such as "/source/flags"; received "${flags}" as its flags.`);
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
    throw new AppError('invalid_input', `Expected a regex; "${source}" has an ${reason}.`, { cause });
  }
}

/** The translation marks JavaScript's dot, which stops at four line ends and not only at `\n`. */
const withoutLineEnds = (re2: string): string => re2.replaceAll('(?:.)', '[^\\n\\r\\x{2028}\\x{2029}]');

/** Reports what JavaScript refuses: RE2 might read it in another sense. The expression is never run. */
function requireValid(source: string, flags: string): void {
  try {
    new RegExp(source, flags);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'invalid';
    throw new AppError('invalid_input', `Expected a regex; ${reason}.`, { cause });
  }
}
