import { MAX_PULL_REQUESTS } from '../../../src/dashboard/forges/read-repositories.js';
import { diffSnapshots } from '../../../src/dashboard/insights/throughput.js';

const at = (hour: number): string => `2026-05-02T${String(hour).padStart(2, '0')}:00:00Z`;
const reading = (hour: number, pullRequests: readonly (readonly [number, number])[], isTruncated = false) => ({
  readAt: Date.parse(at(hour)),
  isTruncated,
  pullRequests: pullRequests.map(([number, created]) => ({ number, createdAt: at(created) })),
});

const before = reading(10, [[1, 8]]);
const truncated = reading(10, [[1, 8]], true);

test.each([
  ['no changes', before, reading(12, [[1, 8]]), [], 0],
  [
    'a new pull request',
    before,
    reading(12, [
      [1, 8],
      [2, 11],
    ]),
    [11],
    0,
  ],
  [
    'a reopened pull request',
    before,
    reading(12, [
      [1, 8],
      [2, 7],
    ]),
    [10],
    0,
  ],
  [
    'a pull request whose creation time is in the future',
    before,
    reading(12, [
      [1, 8],
      [2, 13],
    ]),
    [12],
    0,
  ],
  ['a closed pull request', before, reading(12, []), [], 1],
  ['a closed and a new pull request', before, reading(12, [[2, 11]]), [11], 1],
  ['pull requests missing from a truncated snapshot', before, reading(12, [], true), [], 0],
  [
    'a pull request created after a truncated snapshot',
    truncated,
    reading(12, [
      [1, 8],
      [2, 11],
    ]),
    [11],
    0,
  ],
  [
    'a pull request created before a truncated snapshot',
    truncated,
    reading(12, [
      [1, 8],
      [2, 7],
    ]),
    [],
    0,
  ],
  ['a closed pull request after a truncated snapshot', truncated, reading(12, []), [], 1],
])('diffSnapshots: %s', (_reason, from, to, opened, closed) => {
  expect(diffSnapshots(from, to)).toEqual({ opened: opened.map((hour) => Date.parse(at(hour))), closed });
});

test('diffSnapshots: an invalid creation time is replaced by the time of the snapshot', () => {
  const after = { ...reading(12, []), pullRequests: [{ number: 2, createdAt: 'soon' }] };
  expect(diffSnapshots(reading(10, []), after).opened).toEqual([after.readAt]);
});

test('diffSnapshots: a snapshot with the maximum number of pull requests counts as truncated', () => {
  const full = reading(
    10,
    Array.from({ length: MAX_PULL_REQUESTS }, (_none, index) => [index + 2, 8] as const),
  );
  const next = reading(
    12,
    Array.from({ length: MAX_PULL_REQUESTS }, (_none, index) => [index + 1, 8] as const),
  );
  expect(diffSnapshots(full, next)).toEqual({ opened: [], closed: 0 });
});
