import { LRUCache } from 'lru-cache';
import { compileGlob, type Matcher } from './compile-glob.js';
import { compileRegex } from './compile-regex.js';

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
