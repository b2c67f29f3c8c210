import { sql } from 'kysely';
import { isPostgres, openDatabase } from '../../src/storage/database.js';
import type { Database } from '../../src/storage/database.js';
import { createPlace, openTestDatabase } from './engine.js';
import { startOldPostgres } from './old-postgres.js';

async function placeUrl(): Promise<URL> {
  const place = await createPlace();
  return new URL('url' in place ? place.url : '');
}

const reasonOf = (url: string) =>
  openDatabase({ url }).then(
    () => undefined,
    (error: unknown) => String(error),
  );

test.each([
  ['nobody listens', { port: '1' }, 'expected a PostgreSQL server that can be reached; ECONNREFUSED'],
  ['the password is wrong', { password: 'geheim' }, 'expected the password of the user; the server refused this one'],
  [
    'there is no such database',
    { pathname: 'nowhere' },
    'expected a database that exists; the server has none of this name',
  ],
])('says in one line that %s, and nothing of the address', async (_reason, change, message) => {
  const { href } = Object.assign(await placeUrl(), change);
  expect(await reasonOf(href)).toBe(`DatabaseError: ${message}`);
});

test('refuses a server of a version that is too old', async () => {
  const old = await startOldPostgres('14.9');
  expect(await reasonOf(old.url)).toBe('DatabaseError: expected PostgreSQL 15 or later; the server is 14.9');
  old.close();
});

describe('a database', () => {
  let database: Database;
  beforeEach(async () => {
    database = await openTestDatabase();
  });
  afterEach(() => database.destroy());

  test('is PostgreSQL', () => {
    expect(isPostgres(database)).toBe(true);
  });

  test('orders text by its bytes, like SQLite, whatever the locale', async () => {
    const names = ['a', 'B', '_', 'ä', 'Z', 'aa'];
    for (const name of names)
      await database.insertInto('secret_consumers').values({ name, public_key: null }).execute();
    const rows = await database.selectFrom('secret_consumers').select('name').orderBy('name').execute();
    expect(rows.map(({ name }) => name)).toEqual(['B', 'Z', '_', 'a', 'aa', 'ä']);
  });

  test('refuses to read an integer as another', async () => {
    await expect(sql`select 9007199254740993 as big`.execute(database)).rejects.toThrow('it holds 9007199254740993');
  });

  test('goes on after its server ended the connections', async () => {
    const end = sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()`;
    await expect(end.execute(database)).rejects.toThrow();
    expect(await database.selectFrom('people').selectAll().execute()).toEqual([]);
  });
});
