import { PassThrough } from 'node:stream';

import { describeProgress, openScanTerminal } from '../../src/site/scan-terminal.js';

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

test('openCrawlTerminal: prints nothing for a short scan', () => {
  const stream = new PassThrough();
  const terminal = openScanTerminal(stream as unknown as NodeJS.WriteStream);
  terminal.show(progress);
  terminal.stop();
  expect(stream.read()).toBeNull();
});
