import { formatChange } from '../../src/site/watch/format-change.js';

test.each([
  ['3 files changed, 1 removed (12 ms)', { changed: 3, removed: 1 }],
  ['1 file changed (12 ms)', { changed: 1 }],
  ['5,000 files added (12 ms)', { added: 5000, folders: 51 }],
  ['1 folder added or removed (12 ms)', { folders: 1 }],
])('formatChange: %s', (line, counts) => {
  const nothing = { added: 0, changed: 0, removed: 0, folders: 0 };
  expect(formatChange({ ...nothing, ...counts, milliseconds: 11.2 })).toBe(line);
});
