import { toBindable } from '../../src/storage/bindable.js';
import { openSqlite } from '../../src/storage/sqlite.js';

function roundTrip(value: unknown): unknown {
  const database = openSqlite(':memory:');
  const [row] = database.prepare('select ? as value').all([value]);
  database.close();
  return (row as { value: unknown }).value;
}

test.each([
  ['text beyond the first plane', 'naïve 🌱'],
  ['an empty text', ''],
  ['a time in milliseconds', 1_795_000_000_000],
  ['the largest exact integer', Number.MAX_SAFE_INTEGER],
  ['a fraction', -0.25],
  ['null', null],
  ['bytes', new Uint8Array([0, 255, 10])],
])('toBindable: %s is stored and returned unchanged', (_reason, value) => {
  expect(roundTrip(value)).toEqual(value);
});

test('toBindable: converts booleans to 0 and 1', () => {
  expect([roundTrip(false), roundTrip(true)]).toEqual([0, 1]);
});

test.each([
  ['a Date, which the driver would treat as named parameters', new Date(0), 'Date'],
  ['an object', { a: 1 }, 'Object'],
  ['a list', [1], 'Array'],
  ['undefined', undefined, 'undefined'],
  ['NaN, which the driver would store as NULL', NaN, 'NaN'],
  ['an integer that is not exact', 2 ** 53, '9007199254740992'],
  ['a bigint', 1n, 'bigint'],
  ['text with NUL, which the driver would truncate when it reads', 'a\0b', 'text with NUL'],
])('toBindable: rejects %s', (_reason, value, received) => {
  expect(() => toBindable(value)).toThrow(`received ${received}.`);
});

test('openSqlite: prepares each SQL text once', () => {
  const database = openSqlite(':memory:');
  expect(database.prepare('select 1')).toBe(database.prepare('select 1'));
  database.close();
});
