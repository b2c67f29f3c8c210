import { formatWarnings } from '../../src/site/warnings.js';

test.each([
  ['one line per warning', ['a', 'b'], 2, 'Warning: a\nWarning: b\n'],
  ['the number of further warnings', ['a'], 1001, 'Warning: a\nWarning: and 1,000 more.\n'],
  ['nothing without warnings', [], 0, ''],
  ['escaped control characters', ['a\u001b[2Jb\nc'], 1, 'Warning: a\\u001b[2Jb\\nc\n'],
])('formatWarnings: prints %s', (_reason, messages, count, text) => {
  expect(formatWarnings(messages, count)).toBe(text);
});

test('formatWarnings: prints the first twenty warnings, each on one line', () => {
  const lines = formatWarnings(Array.from({ length: 30 }, () => 'x'.repeat(1000))).split('\n');
  expect(lines).toHaveLength(22);
  expect(lines[0]!.length).toBeLessThan(320);
  expect(lines[20]).toBe('Warning: and 10 more.');
});
