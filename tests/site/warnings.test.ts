import { formatWarnings } from '../../src/site/warnings.js';

test.each([
  ['a line each', ['a', 'b'], 2, 'Warning: a\nWarning: b\n'],
  ['how many more there are', ['a'], 1001, 'Warning: a\nWarning: and 1,000 more.\n'],
  ['nothing of nothing', [], 0, ''],
  ['no control characters', ['a\u001b[2Jb\nc'], 1, 'Warning: a\\u001b[2Jb\\nc\n'],
])('says %s', (_reason, messages, count, text) => {
  expect(formatWarnings(messages, count)).toBe(text);
});

test('says the first twenty of many, and keeps each to a line', () => {
  const lines = formatWarnings(Array.from({ length: 30 }, () => 'x'.repeat(1000))).split('\n');
  expect(lines).toHaveLength(22);
  expect(lines[0]!.length).toBeLessThan(320);
  expect(lines[20]).toBe('Warning: and 10 more.');
});
