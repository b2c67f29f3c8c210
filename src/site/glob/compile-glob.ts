import { AppError } from '../../core/errors.js';
import type { Matcher } from '../matcher.js';
import { createAutomaton } from './glob-automaton.js';
import type { GlobOptions } from './glob-automaton.js';
import { LazyAutomaton } from './lazy-automaton.js';
import { parseGlob } from './parse-glob.js';
import type { Glob, GlobNode } from './parse-glob.js';

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
