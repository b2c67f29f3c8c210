import fc from 'fast-check';
import { OutputMask } from '../../../src/commands/secrets/run/program.js';

/** Masks a text that arrives in chunks of the given sizes. */
function mask(values: readonly string[], text: string, sizes: readonly number[] = []): string {
  const bytes = Buffer.from(text);
  const masking = new OutputMask(values.map((value) => Buffer.from(value)));
  const parts: Buffer[] = [];
  let at = 0;
  for (const size of [...sizes, bytes.length]) {
    parts.push(masking.push(bytes.subarray(at, at + size)));
    at += size;
  }
  return Buffer.concat([...parts, masking.end()]).toString();
}

test.each<[reason: string, values: readonly string[], text: string, expected: string]>([
  ['a value', ['hunter2'], 'a hunter2 b', 'a *** b'],
  ['a value without its line break', ['hunter2\n'], 'hunter2', '***'],
  ['a value that ends with a letter outside ASCII, without its line break', ['1234à\n'], '1234à', '***'],
  ['the longest of several matches', ['1234', '123456'], '1234561234', '******'],
  ['overlapping values', ['1234', '3456'], '123456', '***56'],
  ['the base64 of a value', ['hunter2'], 'aHVudGVyMg==', '***'],
  ['lines of a key', ['-----BEGIN KEY-----\n0123456789\n-----END KEY-----'], 'x 0123456789 y', 'x *** y'],
  ['special characters', ['a.*[b]$'], 'a.*[b]$ a55b', '*** a55b'],
  ['letters outside ASCII', ['café 99'], 'in café 99', 'in ***'],
  ['nothing for a short value', ['abc'], 'abc', 'abc'],
  ['nothing without values', [], 'abcd', 'abcd'],
])('OutputMask replaces %s', (_reason, values, text, expected) => {
  expect(mask(values, text)).toBe(expected);
  // One byte at a time.
  expect(mask(values, text, Array<number>(Buffer.byteLength(text)).fill(1))).toBe(expected);
});

test('OutputMask returns the same text however it is split, and never a value', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'ß'), minLength: 4, maxLength: 7 });
  const values = fc.array(letters, { minLength: 1, maxLength: 4 });
  const text = fc.array(fc.oneof(letters, fc.constantFrom(' ', 'a', 'ß')), { maxLength: 20 });
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 40 });
  fc.assert(
    fc.property(values, text, sizes, (own, words, chunks) => {
      const whole = mask(own, words.join(''));
      expect(mask(own, words.join(''), chunks)).toBe(whole);
      for (const value of own) expect(whole).not.toContain(value);
    }),
  );
});

test('OutputMask holds back only a possible beginning of a value', () => {
  const masking = new OutputMask([Buffer.from('secret99')]);
  expect(masking.push(Buffer.from('Continue? [y/N] ')).toString()).toBe('Continue? [y/N] ');
  expect(masking.push(Buffer.from('the sec')).toString()).toBe('the ');
  expect(masking.push(Buffer.from('ond')).toString()).toBe('second');
});

test('OutputMask replaces values that are not text, and their base64', () => {
  const value = Buffer.from([0xff, 0x80, 0x00, 0xc3, 0xa0, 0x0a]);
  const masking = new OutputMask([value]);
  const output = [Buffer.from('a'), value, Buffer.from(` b ${value.toString('base64')}`)];
  expect(Buffer.concat([masking.push(Buffer.concat(output)), masking.end()]).toString()).toBe('a*** b ***');
});

// Searches that start again at each character would take minutes.
test.each([
  ['spaces', `a${' '.repeat(2 ** 20)}b`],
  ['text', `a${'xy'.repeat(2 ** 19)}b`],
])('OutputMask replaces the largest values: %s', (_reason, value) => {
  const text = `-${value}-${Buffer.from(value).toString('base64')}`;
  expect(mask([value], text, Array<number>(40).fill(65_536))).toBe('-***-***');
});
