import { spawnSync } from 'node:child_process';
import { AppError } from '@trellis/core/errors';
import fc from 'fast-check';
import micromatch from 'micromatch';
import { compileGlob, compilePathGlobs } from '../../src/patterns/patterns.js';

/** Returns all texts over an alphabet up to a length. */
function textsOver(alphabet: readonly string[], length: number): string[] {
  const texts = [''];
  for (const text of texts) if (text.length < length) texts.push(...alphabet.map((char) => text + char));
  return texts;
}

const literal = fc.constantFrom('a', 'b', '-', '.');
const wildcard = fc.constantFrom('*', '?', '[ab]', '[!a]', '[a-b]', '[^b-]');

/** Returns patterns of path segments from literals, wildcards and groups. */
function patternsOf(group: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const item = fc.oneof({ weight: 4, arbitrary: literal }, { weight: 3, arbitrary: wildcard }, group);
  const segment = fc.array(item, { minLength: 1, maxLength: 4 }).map((items) => items.join(''));
  const segments = fc.array(fc.oneof({ weight: 3, arbitrary: segment }, fc.constant('**')), {
    minLength: 1,
    maxLength: 3,
  });
  return segments.map((list) => list.join('/'));
}

/** Without a dot, because micromatch treats a dot before a wildcard differently inside groups. */
const letter = fc.constantFrom('a', 'b', '-');

const group = fc.letrec<{ group: string }>((tie) => {
  const item = fc.oneof({ weight: 5, arbitrary: letter }, { weight: 3, arbitrary: wildcard }, tie('group'));
  const branch = fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => items.join(''));
  const branches = fc.array(branch, { minLength: 1, maxLength: 3 });
  const kind = fc.constantFrom('@', '?', '*', '+');
  return {
    group: fc.oneof(
      { maxDepth: 2 },
      letter,
      fc.tuple(kind, branches).map(([prefix, list]) => `${prefix}(${list.join('|')})`),
      branches.map((list) => `{${list.join(',')},b}`),
    ),
  };
}).group;

/** After a bracket, micromatch treats `?` as in a regular expression. */
const isComparable = (pattern: string): boolean => !/[()|{},]\?/.test(pattern);

/** Without a limit on recursion, because micromatch treats some repeated groups as text otherwise. */
const OPTIONS: micromatch.Options = Object.assign(
  { strictSlashes: true, nonegate: true },
  { maxExtglobRecursion: false },
);

function compileReference(pattern: string): (text: string) => boolean {
  const expression = micromatch.makeRe(pattern.replaceAll('[!', '[^'), OPTIONS);
  return (text) => expression.test(text);
}

/** Paths without the segments ``, `.` and `..`. */
const PATHS = textsOver(['a', 'b', '-', '.', '/'], 5).filter(
  (text) => !text.split('/').some((segment) => ['', '.', '..'].includes(segment)),
);
const VISIBLE = PATHS.filter((text) => !/(?:^|\/)\./.test(text));

function differences(pattern: string, texts: readonly string[]): string[] {
  const [matches, reference] = [compileGlob(pattern), compileReference(pattern)];
  return texts.filter((text) => matches(text) !== reference(text));
}

describe('globs match like micromatch', () => {
  test('with wildcards and classes, including hidden names', () => {
    const patterns = patternsOf(literal).filter(isComparable);
    fc.assert(fc.property(patterns, (pattern) => expect(differences(pattern, PATHS)).toEqual([])));
  });

  test('with groups and braces', () => {
    const patterns = patternsOf(group).filter(isComparable);
    fc.assert(fc.property(patterns, (pattern) => expect(differences(pattern, VISIBLE)).toEqual([])));
  });

  test.each([
    ['conf+([0-9]).yml', ['conf1.yml', 'conf42.yml', 'conf.yml', 'confx.yml']],
    ['**/*.+(yml|yaml)', ['a.yml', 'a/b.yaml', 'a.ymlyaml', 'a.y', 'a/.b.yml']],
    ['+([0-9])', ['1', '123', 'a', '1a']],
    ['[0-9]+.md', ['1.md', '12.md', '.md']],
    ['(a|b)+', ['a', 'abba', 'c']],
    ['{1..3}-{a..c}', ['1-a', '3-c', '4-a', '1-d']],
    ['[slug].md', ['[slug].md', 's.md', 'x.md']],
    ['"a*".md', ['a*.md', 'ab.md']],
    ['[[:alpha:]][[:digit:]]', ['a1', '1a']],
    ['\\*', ['*', 'a']],
    ['./a/*', ['a/b', './a/b']],
  ])('%j', (pattern, texts) => {
    expect(differences(pattern, texts)).toEqual([]);
  });
});

test('a negated group in a glob matches like bash', () => {
  const branch = fc.array(fc.constantFrom('a', 'b', 'c', '?', '*', '[ab]'), { minLength: 1, maxLength: 3 });
  const inner = fc.array(branch, { minLength: 1, maxLength: 3 });
  const negation = inner.map((branches) => `!(${branches.map((items) => items.join('')).join('|')})`);
  const around = fc
    .array(fc.constantFrom('a', 'b', '@(a|bc)', '+(a|b)'), { maxLength: 2 })
    .map((list) => list.join(''));
  const patterns = fc.sample(
    fc.tuple(around, negation, around, fc.oneof(negation, around)).map((parts) => parts.join('')),
    200,
  );
  const texts = textsOver(['a', 'b', 'c'], 4).slice(1);
  const expected = matchByBash(patterns, texts);
  patterns.forEach((pattern, index) => {
    const matches = compileGlob(pattern);
    expect([pattern, texts.filter((text) => matches(text))]).toEqual([pattern, expected[index]]);
  });
});

/** Returns the texts that bash matches, for each pattern. Texts without slashes and dots need no path rules. */
function matchByBash(patterns: readonly string[], texts: readonly string[]): string[][] {
  const script = `
    shopt -s extglob
    while IFS= read -r pattern; do
      for text in ${texts.join(' ')}; do [[ $text == $pattern ]] && printf '%s ' "$text"; done
      echo
    done`;
  const { stdout, error } = spawnSync('bash', ['-c', script], { input: `${patterns.join('\n')}\n`, encoding: 'utf8' });
  if (error) throw error;
  return stdout.split('\n').map((line) => line.split(' ').filter(Boolean));
}

describe('glob rules that differ from micromatch', () => {
  test.each([
    ['a wildcard in a group does not match a leading dot', '@(*|x).md', '.md', false],
    ['a wildcard in braces does not match a leading dot', '{*,x}.md', '.md', false],
    ['a wildcard does not match an empty segment', '*/b', '/b', false],
    ['a negated group is exact before other text', '!(a).md', 'ab.md', true],
    ['a negated group matches a leading dot', '!(a)', '.b', true],
    ['a negated group stays within a segment', '!(a)', 'b/c', false],
    ['a negated group with a slash crosses segments', '!(a/*)', 'b/c', true],
    ['a negated group with a slash excludes its alternatives', '!(a/*)', 'a/c', false],
    ['line ends are ordinary characters', 'a*', 'a\nb', true],
    ['a class never matches a slash', 'a[.-0]b', 'a/b', false],
    ['numbers of a range may have several digits', 'v{8..11}', 'v10', true],
    ['numbers of a range may have leading zeros', 'v{08..11}', 'v09', true],
    ['an unmatched bracket is text', 'a{b(c[d', 'a{b(c[d', true],
    ['a plus sign that does not follow a group is text', 'c++', 'c++', true],
  ])('%s', (_rule, pattern, text, expected) => {
    expect(compileGlob(pattern)(text)).toBe(expected);
  });

  test('with `dot`, wildcards match a leading dot', () => {
    const matches = compileGlob('**/*.md', { dot: true });
    expect(['.a/.b.md', 'a.md', '.md'].map((text) => matches(text))).toEqual([true, true, true]);
  });

  test.each([
    ['a long pattern', '*'.repeat(501), /at most 500 characters/],
    ['a reversed range', '[z-a]', /lower to the higher character; received "z-a"/],
    ['a long range', '{1..100000000}', /at most 1000 numbers/],
    ['a product of ranges', '{1..999}'.repeat(20), /more than 2000 states/],
    ['negations that multiply', `!(${'*(a|b)a?(?)(?)(?)(?)(?)(?)(?)(?)(?)(?)'.repeat(3)})`, /more than 2000 states/],
  ])('%s is rejected', (_what, pattern, message) => {
    expect(() => compileGlob(pattern)).toThrow(AppError);
    expect(() => compileGlob(pattern)).toThrow(message);
  });
});

describe('globs in a configuration', () => {
  test('match a folder like its contents', () => {
    const matches = compilePathGlobs(['docs/**', '*.tmp'], { dot: true });
    expect(['docs', 'docs/a.md', 'docs/.x', 'a.tmp', '.tmp', 'b.md'].map(matches)).toEqual([
      true,
      true,
      true,
      true,
      true,
      false,
    ]);
  });

  test('match like micromatch without strict slashes', () => {
    const patterns = patternsOf(group).filter(isComparable);
    fc.assert(
      fc.property(patterns, (pattern) => {
        const reference = micromatch.makeRe(pattern.replaceAll('[!', '[^'), { ...OPTIONS, strictSlashes: false });
        const matches = compilePathGlobs([pattern]);
        expect(VISIBLE.filter((path) => matches(path) !== reference.test(path))).toEqual([]);
      }),
    );
  });
});

/** A minute is far more than linear matching needs and far less than backtracking would take. */
test('adversarial globs take linear time', () => {
  const groups = ['a|ab|b|ba|aba', '*a*|*b*|ab', '+(a|ab)|*(b|ba)', '?|??|a?', '!(a)|a', '[ab]|a|b'];
  const repeated = fc.constantFrom('+', '*', '?', '@', '!');
  const part = fc.tuple(repeated, fc.constantFrom(...groups)).map(([kind, inner]) => `${kind}(${inner})`);
  const nested = fc
    .array(part, { minLength: 1, maxLength: 4 })
    .map((parts) => `+(${parts.join('')}|${parts.join('|')})`);
  const texts = ['ab'.repeat(30), 'ab'.repeat(5000), `${'a'.repeat(5000)}!`];
  const startedAt = performance.now();
  for (const pattern of fc.sample(nested, 200).flatMap((one) => [one, `${one}x`, `*${one}*c`])) {
    try {
      const matches = compileGlob(pattern);
      texts.forEach((text) => matches(text));
    } catch (error) {
      expect(error).toBeInstanceOf(AppError);
    }
  }
  expect(performance.now() - startedAt).toBeLessThan(60_000);
});
