import path from 'node:path';
import process from 'node:process';
import { DatabaseSync } from '@photostructure/sqlite';
import { isSqliteError, openSqlite, toBindable } from '../../src/storage/sqlite.js';
import { createTestFolder } from './engine.js';

/** Node's own driver exists since 22.5. It must behave the same, so that we can switch to it. */
const own = (
  process as { getBuiltinModule?: (name: string) => { DatabaseSync: typeof DatabaseSync } | undefined }
).getBuiltinModule?.('node:sqlite');

const drivers: [string, typeof DatabaseSync][] = [['@photostructure/sqlite', DatabaseSync]];
if (own !== undefined) drivers.push(['node:sqlite', own.DatabaseSync]);

describe.each(drivers)('%s', (_name, Connection) => {
  const open = async () => openSqlite(path.join(await createTestFolder(), 'test.db'), Connection);

  test('returns values unchanged', async () => {
    const database = await open();
    const values = ['naïve 🌱', '', 2 ** 53 - 1, -0.25, null, new Uint8Array([0, 255, 10])];
    const [row] = database.prepare(`select ${values.map((_value, index) => `? as v${index}`).join(', ')}`).all(values);
    expect(Object.values(row as object)).toEqual(values);
    database.close();
  });

  test('reports whether a statement returns rows, and the number of changed rows', async () => {
    const database = await open();
    expect(database.prepare('create table t (a integer unique)').reader).toBe(false);
    database.prepare('create table t (a integer unique)').run([]);
    expect(Number(database.prepare('insert into t values (?), (?)').run([1, 2]).changes)).toBe(2);
    expect(database.prepare('delete from t returning a').reader).toBe(true);
    database.close();
  });

  test('reports the error code of SQLite, which is 5 for a concurrent writer', async () => {
    const file = path.join(await createTestFolder(), 'test.db');
    const [first, second] = [openSqlite(file, Connection), openSqlite(file, Connection)];
    first.prepare('begin immediate').run([]);
    const error = catchError(() => second.prepare('begin immediate').run([]));
    expect(isSqliteError(error) && error.errcode).toBe(5);
    first.prepare('rollback').run([]);
    second.prepare('begin immediate').run([]);
    first.close();
    second.close();
  });

  test('uses WAL, syncs every commit and enforces foreign keys', async () => {
    const database = await open();
    const read = (pragma: string) =>
      Object.values(database.prepare(`pragma ${pragma}`).all([])[0] as object) as unknown[];
    expect([read('journal_mode'), read('synchronous'), read('foreign_keys')]).toEqual([['wal'], [2], [1]]);
    database.close();
  });
});

function catchError(run: () => void): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}

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
