import type { Database } from '../../src/storage/database.js';
import { inTransaction } from '../../src/storage/database.js';
import { prepare, prepareInsert } from '../../src/storage/prepared.js';
import { openTestDatabase } from './engine.js';

const row = { id: 'p1', username: 'Ada', username_key: 'ada', display_name: 'Ada', is_admin: 1, created_at: 7 };

let database: Database;
beforeEach(async () => {
  database = await openTestDatabase();
});
afterEach(() => database.destroy());

test('prepare compiles a query once, and runs it with the input of each call', async () => {
  let built = 0;
  const find = prepare((on, { key, since }: { readonly key: string; readonly since: number }) => {
    built += 1;
    return on.selectFrom('people').select('id').where('created_at', '>=', since).where('username_key', '=', key);
  });
  await database.insertInto('people').values(row).execute();
  expect(await find(database, { key: 'ada', since: 7 })).toEqual([{ id: 'p1' }]);
  expect(await find(database, { key: 'ada', since: 8 })).toEqual([]);
  expect(await find(database, { key: 'bob', since: 0 })).toEqual([]);
  expect(built).toBe(1);
});

test('prepareInsert adds a row in any order of its columns, and in the given transaction', async () => {
  const insert = prepareInsert('people');
  const reordered = Object.fromEntries(Object.entries(row).reverse()) as typeof row;
  await insert(database, row);
  await insert(database, { ...reordered, username_key: 'b', id: 'p2' });
  const undone = inTransaction(database, async (transaction) => {
    await insert(transaction, { ...row, id: 'p3', username_key: 'c' });
    throw new Error('changed my mind');
  });
  await expect(undone).rejects.toThrow('changed my mind');
  expect(await database.selectFrom('people').selectAll().orderBy('id').execute()).toEqual([
    row,
    { ...row, id: 'p2', username_key: 'b' },
  ]);
});
