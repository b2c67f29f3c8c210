import { CHARACTER_SETS, generateValue, toAlphabet, toEntropy } from '../../../src/web/app/secrets/generate-value.js';

test('generateValue: skips the bytes that would make the first characters more likely', () => {
  const alphabet = '123';
  // 255 is the only byte that is not below the largest multiple of 3.
  const bytes = [255, 0, 255, 1, 2, 254];
  let next = 0;
  const fill = (target: Uint8Array): void => {
    for (let index = 0; index < target.length; index += 1) target[index] = bytes[next++ % bytes.length]!;
  };
  expect(generateValue(4, alphabet, fill)).toBe('1233');
});

test.each([
  [['lower', 'upper', 'digits'], false, 62],
  [['lower', 'upper', 'digits', 'symbols'], false, 89],
  [['lower', 'upper', 'digits', 'symbols'], true, 83],
  [['digits'], true, 8],
] as const)('generateValue: draws evenly from %j (readable: %s)', (sets, isReadable, size) => {
  const alphabet = toAlphabet(sets, isReadable);
  expect(new Set(alphabet).size).toBe(size);
  expect(alphabet).toHaveLength(size);
  const draws = 100 * size;
  const counts = new Map<string, number>();
  for (const character of generateValue(draws, alphabet)) counts.set(character, (counts.get(character) ?? 0) + 1);
  expect([...counts.keys()].sort()).toEqual(alphabet.split('').sort());
  // Chi-squared, with a limit of seven standard deviations above its mean: 1 of 10^12 even draws exceeds it.
  const chiSquared = [...counts.values()].reduce((sum, count) => sum + (count - 100) ** 2 / 100, 0);
  expect(chiSquared).toBeLessThan(size - 1 + 8 * Math.sqrt(2 * size));
});

test('toEntropy: is the binary logarithm of the number of values that can be generated', () => {
  expect(toEntropy(10, CHARACTER_SETS.digits[1])).toBeCloseTo(Math.log2(10 ** 10));
  expect(toEntropy(32, 'a')).toBe(0);
});
