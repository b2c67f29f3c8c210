import fc from 'fast-check';
import { createIsoTimes } from '../../src/query/sql-functions.js';

const DAY_MS = 86_400_000;
const LAST_MS = 8.64e15;

test.each([
  ['the epoch', 0],
  ['a time before the epoch', -1],
  ['a fraction that rounds up to the next day', DAY_MS - 0.25],
  ['half a millisecond, which rounds up', 1.5],
  ['half a millisecond before the epoch, which rounds up too', -1.5],
  ['a leap day', Date.UTC(2024, 1, 29, 23, 59, 59, 999)],
  ['a time before year 0', -62_167_219_200_001],
  ['a time after year 9999', 253_402_300_800_000],
  ['the last instant', LAST_MS],
  ['the first instant', -LAST_MS],
])('createIsoTimes: formats %s like a Date', (_, ms) => {
  expect(createIsoTimes()(ms)).toBe(new Date(Math.round(ms)).toISOString());
});

test('createIsoTimes: formats any time like a Date, regardless of previous calls', () => {
  const toIso = createIsoTimes();
  const ms = fc.oneof(
    fc.double({ min: -LAST_MS, max: LAST_MS, noNaN: true }),
    fc.integer({ min: -DAY_MS, max: 4e12 }),
    fc.integer({ min: 0, max: 4e12 }).map((eighths) => eighths / 8),
  );
  fc.assert(fc.property(ms, (time) => toIso(time) === new Date(Math.round(time)).toISOString()));
});

test('createIsoTimes: clamps times beyond the range of a Date', () => {
  const toIso = createIsoTimes();
  expect([toIso(1e19), toIso(-1e19)]).toEqual(['+275760-09-13T00:00:00.000Z', '-271821-04-20T00:00:00.000Z']);
});

test('createIsoTimes: is correct for more days than are cached', () => {
  const toIso = createIsoTimes();
  for (let day = 0; day < 10_050; day += 1) toIso(day * DAY_MS);
  expect(toIso(3 * DAY_MS + 7)).toBe('1970-01-04T00:00:00.007Z');
});
