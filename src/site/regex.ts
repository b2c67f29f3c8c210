import { RE2JS } from 're2js';
import { AppError } from '../errors.js';
import { translateRegex } from './regex-syntax.js';

export type Matcher = (text: string) => boolean;

/** Longer patterns are no search for a name; the cost of compiling one grows with its length. */
const MAX_PATTERN = 1000;

/**
 * The longest text that the platform's engine gets. Its cost grows at most
 * with the square of the text for the patterns that it is given, so that this
 * many units take well under a millisecond.
 */
const MAX_NATIVE_TEXT = 512;

/**
 * A test for the text of a `regex` operator, `/source/flags`. Slashes inside
 * the source need no escape; without two slashes all of it is flags, as in the
 * engine that the queries were written for.
 *
 * Takes time that is linear in the text: what JavaScript's engine might take
 * long for runs on RE2.
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
  const { re2, cheap } = translateRegex(source);
  const native = compileNative(source, flags);
  const linear = compileLinear(re2, flags, source);
  if (!cheap) return linear;
  return (text) => (text.length <= MAX_NATIVE_TEXT ? native.test(text) : linear(text));
}

/** JavaScript's flags but `g` and `y`, which only say where a search goes on. */
function parseFlags(flags: string): string {
  if (!/^[dgimsuy]*$/.test(flags) || new Set(flags).size !== flags.length) {
    throw new AppError('invalid_input', `Expected a regex such as "/source/flags"; received "${flags}" as its flags.`);
  }
  return flags.replace(/[dgy]/g, '');
}

function compileLinear(re2: string, flags: string, source: string): Matcher {
  let options = flags.includes('i') ? RE2JS.CASE_INSENSITIVE : 0;
  if (flags.includes('m')) options |= RE2JS.MULTILINE;
  if (flags.includes('s')) options |= RE2JS.DOTALL;
  try {
    const pattern = RE2JS.compile(flags.includes('s') ? re2 : withoutLineEnds(re2), options);
    return (text) => pattern.test(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.replace('error parsing regexp: ', '') : 'unknown';
    throw new AppError('invalid_input', `Expected a regex; "${source}" has an ${reason}.`, { cause });
  }
}

/** The translation marks JavaScript's dot, which stops at four line ends and not only at `\n`. */
const withoutLineEnds = (re2: string): string => re2.replaceAll('(?:.)', '[^\\n\\r\\x{2028}\\x{2029}]');

/** Every pattern is compiled here first: what JavaScript refuses, RE2 might read in another sense. */
function compileNative(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, flags);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'invalid';
    throw new AppError('invalid_input', `Expected a regex; ${reason}.`, { cause });
  }
}
