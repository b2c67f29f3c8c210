import { AppError } from '@trellis/core/errors';
import fc from 'fast-check';
import { compileRegex } from '../../src/patterns/compile-regex.js';
import { compileGlob, findRequiredText, type RequiredText } from '../../src/patterns/patterns.js';

describe('the text that a pattern requires', () => {
  test.each([
    ['/\\.md$/', ['.md']],
    ['/guide\\/basics/', ['guide/basics']],
    ['/\\.(md|txt)$/', ['.md', '.txt']],
    ['/^docs\\/.*intro/', ['docs/']],
    ['/images?\\/x/', ['images/x', 'image/x']],
    ['/ab+cde/', ['cde']],
    ['/a*b{0,2}/', undefined],
    ['/abc|[xy]/', undefined],
    ['/(?:abc)*/', undefined],
    ['/./', undefined],
    ['', undefined],
  ])('of the regex %s is %j', (pattern, expected) => {
    expect(findRequiredText('regex', pattern)?.anyOf).toEqual(expected);
  });

  test.each([
    ['**/*.md', ['.md']],
    ['posts/*/index.{md,mdx}', ['/index.md', '/index.mdx']],
    ['+(ab|cd)*', ['ab', 'cd']],
    ['?(ab)*', undefined],
    ['!**/*.md', undefined],
    ['[ab]*', undefined],
    ['*', undefined],
  ])('of the glob %s is %j', (pattern, expected) => {
    expect(findRequiredText('glob', pattern)?.anyOf).toEqual(expected);
  });

  test('ignores case only in ASCII', () => {
    // The Kelvin sign and the long s.
    expect(compileRegex('/\\u212aay|\\u017fay/i')('kay')).toBe(true);
    expect(findRequiredText('regex', '/oaks/i')).toEqual({ anyOf: ['oa'], ignoresCase: true });
  });
});

const isIn = (text: string, required: RequiredText | undefined): boolean =>
  required === undefined ||
  required.anyOf.some((one) =>
    required.ignoresCase ? text.toLowerCase().includes(one.toLowerCase()) : text.includes(one),
  );

const ATOMS = [
  'a',
  'b',
  'K',
  's',
  '.',
  '/',
  '\\.',
  '\\d',
  '[ab]',
  '\\x61',
  '\\u0062',
  '(?<n>a)',
  '[^a]',
  '(a|b)',
  '(?:ab|)',
  '^',
  '$',
  '|',
  '(',
  ')',
  'é',
];
const REPEATS = ['', '', '*', '+', '?', '{0,2}', '{2}', '+?', '{1,}'];

const regexes = fc
  .tuple(
    fc.array(fc.tuple(fc.constantFrom(...ATOMS), fc.constantFrom(...REPEATS)), { maxLength: 7 }),
    fc.constantFrom('', 'i', 'm', 's'),
  )
  .map(([parts, flags]) => `/${parts.flat().join('')}/${flags}`);

const globs = fc
  .array(
    fc.constantFrom(
      'a',
      'b',
      '.',
      '/',
      '*',
      '**',
      '?',
      '[ab]',
      '{a,b}',
      '{a,ab,}',
      '@(a|b)',
      '?(ab)',
      '+(a|b)',
      '*(b)',
      '!(a)',
      '!',
      '\\b',
      '"a"',
      'é',
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));

const texts = fc
  .array(fc.constantFrom('a', 'b', 'A', 'k', 'S', '.', '/', '1', 'é', '\n', '\u212a', '\u017f'), { maxLength: 8 })
  .map((chars) => chars.join(''));

/** Patterns that the server rejects require nothing. */
function orNothing(compile: () => (text: string) => boolean): (text: string) => boolean {
  try {
    return compile();
  } catch (error) {
    if (error instanceof AppError) return () => false;
    throw error;
  }
}

test('every match of a random pattern contains the required text', () => {
  let matches = 0;
  const check = (operator: 'glob' | 'regex', pattern: string, list: readonly string[]): void => {
    const test = orNothing(() => (operator === 'glob' ? compileGlob(pattern) : compileRegex(pattern)));
    for (const text of list) {
      if (!test(text)) continue;
      matches += 1;
      if (!isIn(text, findRequiredText(operator, pattern)))
        throw new Error(`${pattern} matches ${JSON.stringify(text)}`);
    }
  };
  const lists = fc.array(texts, { minLength: 20, maxLength: 20 });
  fc.assert(
    fc.property(regexes, lists, (pattern, list) => check('regex', pattern, list)),
    { numRuns: 3000 },
  );
  fc.assert(
    fc.property(globs, lists, (pattern, list) => check('glob', pattern, list)),
    { numRuns: 3000 },
  );
  expect(matches).toBeGreaterThan(3000);
});
