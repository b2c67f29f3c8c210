import { PassThrough } from 'node:stream';
import { describeProgress, formatChange, formatWarnings, openScanTerminal } from '../src/terminal.js';

const progress = { found: 21_000, total: 20_000, hashed: 12_000, totalBytes: 184e6, bytes: 110e6 };

test('describeProgress: reports files, bytes and speed', () => {
  expect(describeProgress(progress, 2000)).toBe('Reading the site: 12,000 of 20,000 files, 110 MB of 184 MB, 55 MB/s');
});

test('describeProgress: omits the total size while it is unknown', () => {
  const unsized = { found: 21_000, total: 20_000, hashed: 12_000, bytes: 110e6 };
  expect(describeProgress(unsized, 2000)).toBe('Reading the site: 12,000 of 20,000 files, 110 MB, 55 MB/s');
});

test('describeProgress: reports found entries while folders are listed', () => {
  expect(describeProgress({ found: 1234, total: 0, hashed: 0, bytes: 0 }, 0)).toBe(
    'Listing the site: 1,234 files and folders',
  );
});

test('openScanTerminal: prints nothing for a short scan', async () => {
  const stream = new PassThrough();
  const terminal = await openScanTerminal(stream);
  terminal.show(progress);
  terminal.stop();
  expect(stream.read()).toBeNull();
});

test.each([
  ['one line per warning', ['a', 'b'], 2, 'Warning: a\nWarning: b\n'],
  ['the number of further warnings', ['a'], 1001, 'Warning: a\nWarning: and 1,000 more.\n'],
  ['nothing without warnings', [], 0, ''],
  ['escaped control characters', ['a\u001b[2Jb\nc'], 1, 'Warning: a\\u001b[2Jb\\nc\n'],
  ['escaped characters that JSON allows', ['a\u009b2J\u007f\u202eb'], 1, 'Warning: a\\u009b2J\\u007f\\u202eb\n'],
])('formatWarnings: prints %s', (_reason, messages, count, text) => {
  expect(formatWarnings(messages, count)).toBe(text);
});

test('formatWarnings: prints the first twenty warnings, each on one line', () => {
  const lines = formatWarnings(Array.from({ length: 30 }, () => 'x'.repeat(1000))).split('\n');
  expect(lines).toHaveLength(22);
  expect(lines[0]!.length).toBeLessThan(320);
  expect(lines[20]).toBe('Warning: and 10 more.');
});

test.each([
  ['3 files changed, 1 removed (12 ms)', { changed: 3, removed: 1 }],
  ['1 file changed (12 ms)', { changed: 1 }],
  ['5,000 files added (12 ms)', { added: 5000, folders: 51 }],
  ['1 folder added or removed (12 ms)', { folders: 1 }],
])('formatChange: %s', (line, counts) => {
  const nothing = { added: 0, changed: 0, removed: 0, folders: 0 };
  expect(formatChange({ ...nothing, ...counts, milliseconds: 11.2 })).toBe(line);
});
