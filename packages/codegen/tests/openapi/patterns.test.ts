import { toUnicodePattern, translatePattern } from '../../src/openapi/patterns.js';

test.each([
  ['a needless escape', String.raw`^\_\:\!$`, '^_:!$'],
  ['a needed escape beside one', String.raw`\.\@\/`, String.raw`\.@\/`],
  ['an escaped hyphen outside of a class', String.raw`a\-[a\-z]`, String.raw`a-[a\-z]`],
  ['a hyphen beside a set', String.raw`[\w-.][.-\d]`, String.raw`[\w\-.][.\-\d]`],
  ['braces and brackets of their own', '{[a-f]{4}}]', String.raw`\{[a-f]{4}\}\]`],
])('toUnicodePattern: %s', (_reason, pattern, want) => {
  expect(toUnicodePattern(pattern)).toBe(want);
});

test.each([
  ['has Unicode mode already', String.raw`^[\w\-]+$`],
  ['has the syntax of a different language', '(?i)^all$'],
  ['is no regular expression', '[a-'],
])('toUnicodePattern: leaves a pattern that %s', (_reason, pattern) => {
  expect(toUnicodePattern(pattern)).toBeUndefined();
});

const ATOMS =
  String.raw`a - \- \w \d \s \_ \: \" \@ \. \/ \[ \] { } {2} {1,3} ] [a-c] [\w-.] [.-\w] [\w-] [-\w] [^\w-] [\d-\w]
  [\-\:] [a\-z] (?:a|b) + * ? . ^ $ [^a] \\ \u0041 \x41 [\]a] [a\]-\w] [\\-\w] [a-\d] [%--] \^ \# , [,-\.] \{`.split(
    /\s+/,
  );
const CHARACTERS = 'aAbZ09-_.:"@/[]{}\\ #,+^$%é';

/** A sequence of numbers below a limit that is the same in every run (Numerical Recipes, 7.1). */
function createSequence(): (limit: number) => number {
  let state = 1;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

test('toUnicodePattern: the pattern matches the same texts as without Unicode mode', () => {
  const next = createSequence();
  const pick = (list: string | readonly string[], most: number): string =>
    Array.from({ length: next(most) + 1 }, () => list[next(list.length)]).join('');
  const differences: unknown[] = [];
  let compared = 0;
  for (let count = 0; count < 20_000; count += 1) {
    const pattern = pick(ATOMS, 5);
    const written = toUnicodePattern(pattern);
    if (written === undefined) continue;
    const [before, after] = [new RegExp(pattern), new RegExp(written, 'u')];
    const texts = Array.from({ length: 10 }, () => pick(CHARACTERS, 6));
    compared += texts.length;
    differences.push(...texts.filter((text) => before.test(text) !== after.test(text)).map((text) => [pattern, text]));
  }
  expect(differences).toEqual([]);
  expect(compared).toBeGreaterThan(10_000);
});

test.each([
  ['a flag at the start', '(?i)^(all|none)$', '^([aA][lL][lL]|[nN][oO][nN][eE])$'],
  ['a flag behind the start', '^(?i)ok', '^[oO][kK]'],
  ['classes without case', '(?i)[0-9a-f][^x_-]', '[0-9a-fA-F][^x_X-]'],
  ['escapes and repetitions without case', String.raw`(?i)\d{2}\.(?<id>\w)`, String.raw`\d{2}\.(?<id>\w)`],
  ['line breaks that a dot matches', String.raw`(?s)^.\.$`, String.raw`^[^]\.$`],
  ['anchors of Ruby', String.raw`\A[a-z]+\z`, '^[a-z]+$'],
  ['groups of Python', '(?P<year>[0-9]{4})', '(?<year>[0-9]{4})'],
  ['needless escapes', String.raw`(?i)\:a`, ':[aA]'],
])('translatePattern: %s', (_reason, pattern, want) => {
  expect(translatePattern(pattern)).toBe(want);
});

test.each([
  ['is one of JavaScript', '^[a-z]+$'],
  ['has flags in the middle', 'a(?i)b'],
  ['has ranges with some of the letters', '(?i)[1-Z]'],
  ['has classes of Unicode without case', String.raw`(?i)\p{Lu}`],
  ['is not a regular expression', '[_-.]'],
])('translatePattern: leaves a pattern that %s', (_reason, pattern) => {
  expect(translatePattern(pattern)).toBeUndefined();
});

test('translatePattern: the pattern matches the same texts as one that ignores case', () => {
  const next = createSequence();
  const pick = (list: string | readonly string[], most: number): string =>
    Array.from({ length: next(most) + 1 }, () => list[next(list.length)]).join('');
  const atoms = [
    'a',
    'B',
    '-',
    '.',
    '[a-c]',
    '[^a]',
    '[A-Cx]',
    '[b-]',
    String.raw`[\w.]`,
    '(?:a|B)',
    '+',
    '?',
    '{2}',
    'é',
  ];
  const differences: unknown[] = [];
  let compared = 0;
  for (let count = 0; count < 10_000; count += 1) {
    const pattern = pick(atoms, 5);
    const written = translatePattern(`(?i)${pattern}`);
    if (written === undefined) continue;
    const [before, after] = [new RegExp(pattern, 'iu'), new RegExp(written, 'u')];
    const texts = Array.from({ length: 10 }, () => pick('aAbBcCxX-.éÉ1', 5));
    compared += texts.length;
    differences.push(...texts.filter((text) => before.test(text) !== after.test(text)).map((text) => [pattern, text]));
  }
  expect(differences).toEqual([]);
  expect(compared).toBeGreaterThan(10_000);
});
