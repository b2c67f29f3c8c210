import { gzipSync } from 'node:zlib';
import { base32 } from '@scure/base';
import fc from 'fast-check';
import { TextMask } from '../../../src/commands/secrets/mcp/masked-run.js';

const VALUE = 'correct-horse/battery+staple 42!';

const mask = (text: string, values: readonly string[] = [VALUE]): string =>
  new TextMask(values).mask(Buffer.from(text)).bytes.toString();

const encode = (encoding: BufferEncoding, text = VALUE): string => Buffer.from(text).toString(encoding);

test.each<[reason: string, text: string]>([
  ['the value', VALUE],
  ['the value in upper case', VALUE.toUpperCase()],
  ['the value reversed', Array.from(VALUE).reverse().join('')],
  ['the value with a line break after each character', Array.from(VALUE).join('\n')],
  ['its base64', encode('base64')],
  ['its base64 in lines', encode('base64').replace(/.{5}/g, '$&\n')],
  ['its base64 for URLs', encode('base64url')],
  ['its base64 in other data', encode('base64', `a:${VALUE}@b`)],
  ['its base32', base32.encode(Buffer.from(VALUE))],
  ['its base32 in other data', base32.encode(Buffer.from(`ab${VALUE}c`))],
  ['its hexadecimal form', encode('hex')],
  ['its hexadecimal form with separators', encode('hex').toUpperCase().replace(/../g, '$& ')],
  ['its URL encoding', encodeURIComponent(VALUE)],
  ['its first half', VALUE.slice(0, 16)],
  ['its second half', VALUE.slice(16)],
])('TextMask replaces %s', (_reason, text) => {
  const masked = mask(`before: ${text} :after`);
  expect(masked).toMatch(/^before: .*\*\*\*.* :after$/s);
  // At most the ends of an encoding, which also contain bits of other data, are left.
  expect(masked.replace(/^before: | :after$/g, '').replace(/[^a-z0-9]/gi, '').length).toBeLessThan(12);
});

test('TextMask replaces a value with characters that JSON escapes', () => {
  const value = '{"user":"ada","key":"a\\b\n9"}';
  expect(mask(JSON.stringify({ value }), [value])).toBe('{"value":"***"}');
});

test('TextMask keeps text with shorter parts of a value', () => {
  const text = 'A correct answer: the horse has a battery, a staple and 42 apples.';
  expect(mask(text)).toBe(text);
});

test('TextMask does not find a compressed value', () => {
  // A residual risk that docs/secrets-security.md names.
  const packed = gzipSync(VALUE).toString('base64');
  expect(mask(packed)).toBe(packed);
});

test('TextMask leaves no part of 8 characters of a value anywhere', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'ß', '-', '7'), minLength: 8, maxLength: 20 });
  fc.assert(
    fc.property(fc.array(letters, { minLength: 1, maxLength: 3 }), fc.array(letters), (values, words) => {
      const masked = mask(words.concat(values).join(''), values);
      for (const value of values) {
        for (let at = 0; at + 8 <= value.length; at += 1) expect(masked).not.toContain(value.slice(at, at + 8));
      }
    }),
  );
});
