import { AppError } from '@trellis/core/errors';
import { compileRegex } from '../../src/patterns/compile-regex.js';
import { compileGlob } from '../../src/patterns/patterns.js';

describe('regex', () => {
  test.each([
    ['an empty pattern matches everything', '', 'x', true],
    ['one slash makes an empty source', 'an/', 'x', true],
    ['inner slashes need no escape', '/guide/basics/', 'docs/guide/basics/a.md', true],
    ['inner slashes may be escaped', '/guide\\/basics/', 'docs/guide/basics/a.md', true],
    ['case matters', '/A/', 'a', false],
    ['i ignores case', '/A/i', 'a', true],
    ['g does not keep a position', '/a/g', 'a', true],
    ['the first double backslash counts as one', '/\\\\.md$/', 'a.md', true],
    ['an alternative', '/^(docs|data)\\//', 'data/x', true],
    ['repeated groups run in linear time', '/^(a+)+$/', `${'a'.repeat(5000)}!`, false],
    ['many repeats run in linear time', '/.*.*.*.*.*x/', 'a'.repeat(5000), false],
    ['white space is that of JavaScript', '/^(\\s)+$/', '\u00a0\u3000', true],
    ['a dot does not match a line end', '/^(a.)+$/', 'a\u2028', false],
    ['m ends lines as JavaScript does', '/^title$/m', 'a\r\ntitle\r\nb', true],
    ['m starts lines after other line ends', '/^b/m', 'a\u2028b', true],
    ['line ends that the pattern names', '/a\\r\\nb$/m', 'a\r\nb', true],
    ['a class in a repeated group', '/^([\\d-]+)+$/', '2020-02-29', true],
    ['a named group', '/^(?<year>\\d+)+$/', '2020', true],
    ['a script', '/^\\p{Script=Han}[\\p{sc=Hiragana}]\\P{sc=Han}$/u', '検の索', false],
    ['a script in a class', '/^\\p{Script=Han}[\\p{sc=Hiragana}]\\p{gc=Lo}$/u', '検の索', true],
    ['a code point', '/^(\\u00e4)+$/', 'ää', true],
  ])('%s', (_reason, pattern, text, expected) => {
    const matcher = compileRegex(pattern);
    expect([matcher(text), matcher(text)]).toEqual([expected, expected]);
  });

  test.each([
    ['no slashes', 'abc', /received the flags "abc"/],
    ['an unknown flag', '/a/q', /received the flags "q"/],
    ['a duplicate flag', '/a/ii', /received the flags "ii"/],
    ['an unclosed group', '/(a/', /Unterminated group/],
    ['a lookahead', '/a(?=b)/', /lookahead/],
    ['a lookbehind', '/(?<!a)b/', /lookbehind/],
    ['a backreference', '/(a)\\1/', /backreference/],
    ['inline flags of a different dialect', '/(?i)a/', /Invalid/],
    ['too many repeats', '/(a{1,1000}){1,1000}/', /at most 2000 parts/],
    ['a pattern that is too long', `/${'a'.repeat(2000)}/`, /at most 1000/],
  ])('rejects %s', (_reason, pattern, message) => {
    expect(() => compileRegex(pattern)).toThrow(AppError);
    expect(() => compileRegex(pattern)).toThrow(message);
  });
});

describe('glob', () => {
  test.each([
    ['*', 'a.md', true],
    ['*', 'a/b.md', false],
    ['*', '.hidden', false],
    ['.*', '.hidden', true],
    ['**', 'a/b/c', true],
    ['**', '.git/HEAD', false],
    ['docs/**/intro.md', 'docs/intro.md', true],
    ['docs/**/intro.md', 'docs/a/b/intro.md', true],
    ['odd/?-*', 'odd/a-b', true],
    ['ODD/*', 'odd/a', false],
    ['!**/*.md', 'a/b.md', false],
    ['!**/*.md', 'a/b.txt', true],
    ['!**/*.md', 'a/with space.md', false],
    ['!**/*.md', 'a/ü-ñ.md', true],
    ['!**/*.md', 'a/ü1.md', false],
    ['!**/*.md', '.a/b.md', true],
    ['!**/*.md', 'a/.b.md', true],
    ['!**/b', 'a/c/b', false],
    ['!**/b', 'b', false],
    ['!**/@(b|c)', 'a/c', false],
    ['*.{md,txt}', 'a.txt', true],
    ['[a-c].md', 'b.md', true],
    ['[!a].md', 'b.md', true],
    ['[!a].md', 'a.md', false],
    ['@(a|b).md', 'a.md', true],
    ['!(a).md', 'a.md', false],
    ['!(a).md', 'b.md', true],
    ['', '', true],
    ['', 'a', false],
    ['*a*a*a*a*a*a*b', 'a'.repeat(400), false],
    ['*-*-*-*.md', 'a-b-c-d.md', true],
    ['*-*-*-*.md', 'a-b/c-d.md', false],
    ['**/a/**/b/**', 'x/a/y/b/z', true],
    ['**/a/**/b/**', 'a/b/c', true],
    ['**/a/**/b/**', 'a/b', false],
    ['a/**', 'a', false],
    ['**/a/**/b/**', 'x/a/.y/b/z', false],
    ['*/*/*.{md,txt}', 'a/b/c.txt', true],
    ['*/*/*.{md,txt}', 'a/.b/c.txt', false],
  ])('matches %j against %j: %s', (pattern, text, expected) => {
    expect(compileGlob(pattern)(text)).toBe(expected);
  });

  test.each([['a pattern that is too long', '*'.repeat(501), /at most 500/]])(
    'rejects %s',
    (_reason, pattern, message) => {
      expect(() => compileGlob(pattern)).toThrow(message);
    },
  );
});
