import { findMovements } from '../../../src/dashboard/throughput/movements.js';

const at = (hour: number): string => `2026-05-02T${String(hour).padStart(2, '0')}:00:00Z`;
const reading = (hour: number, pullRequests: readonly (readonly [number, number])[], isCut = false) => ({
  readAt: Date.parse(at(hour)),
  isCut,
  pullRequests: pullRequests.map(([number, created]) => ({ number, createdAt: at(created) })),
});

const before = reading(10, [[1, 8]]);
const cut = reading(10, [[1, 8]], true);

test.each([
  ['nothing new', before, reading(12, [[1, 8]]), [], 0],
  [
    'one that was opened in between',
    before,
    reading(12, [
      [1, 8],
      [2, 11],
    ]),
    [11],
    0,
  ],
  [
    'one that was created before and opened again',
    before,
    reading(12, [
      [1, 8],
      [2, 7],
    ]),
    [10],
    0,
  ],
  [
    'one that a clock ahead of ours created',
    before,
    reading(12, [
      [1, 8],
      [2, 13],
    ]),
    [12],
    0,
  ],
  ['one that was merged or closed', before, reading(12, []), [], 1],
  ['one for another', before, reading(12, [[2, 11]]), [11], 1],
  ['none, as there are more than are read', before, reading(12, [], true), [], 0],
  [
    'one that is young, next to a reading that was cut',
    cut,
    reading(12, [
      [1, 8],
      [2, 11],
    ]),
    [11],
    0,
  ],
  [
    'one that is old, next to a reading that was cut',
    cut,
    reading(12, [
      [1, 8],
      [2, 7],
    ]),
    [],
    0,
  ],
  ['the end of one, next to a reading that was cut', cut, reading(12, []), [], 1],
])('two readings tell of %s', (_reason, from, to, opened, left) => {
  expect(findMovements(from, to)).toEqual({ opened: opened.map((hour) => Date.parse(at(hour))), left });
});

test('a date that is none is when it was seen', () => {
  const after = { ...reading(12, []), pullRequests: [{ number: 2, createdAt: 'soon' }] };
  expect(findMovements(reading(10, []), after).opened).toEqual([after.readAt]);
});

test('a repository with as many pull requests as are read may have others', () => {
  const full = reading(
    10,
    Array.from({ length: 1_000 }, (_none, index) => [index + 2, 8] as const),
  );
  const next = reading(
    12,
    Array.from({ length: 1_000 }, (_none, index) => [index + 1, 8] as const),
  );
  expect(findMovements(full, next)).toEqual({ opened: [], left: 0 });
});
