import { type Database, inTransaction } from '../../src/storage/database.js';
import { prepare, prepareBatch, prepareInsert, prepareInserts } from '../../src/storage/prepared.js';
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

const columns = ['id', 'username', 'username_key', 'display_name', 'is_admin', 'created_at'] as const;
const toRow = (index: number) => {
  const name = `p${String(index).padStart(3, '0')}`;
  return { id: name, username: name, username_key: name, display_name: 'P', is_admin: 0, created_at: index };
};

test.each([0, 1, 2, 31, 77])('prepareInserts adds %i rows, in any order of their properties', async (count) => {
  const rows = Array.from({ length: count }, (_none, index) => toRow(index));
  const reordered = rows.map((row) => Object.fromEntries(Object.entries(row).reverse()) as typeof row);
  await prepareInserts('people', columns)(database, reordered);
  expect(await database.selectFrom('people').selectAll().orderBy('id').execute()).toEqual(rows);
});

test.each([0, 1, 3, 77])('prepareBatch returns separate rows for each of %i inputs, in their order', async (count) => {
  let built = 0;
  await prepareInserts('people', columns)(database, [toRow(0), toRow(1), toRow(2)]);
  const find = prepareBatch((on, { since, id }: { readonly since: string; readonly id: string }) => {
    built += 1;
    const people = on.selectFrom('people').select('id').where('id', '>=', since);
    return people.where('id', '<>', id).orderBy('id').limit(2);
  });
  const questions = Array.from({ length: count }, (_none, index) => ({ since: `p00${index % 4}`, id: 'p001' }));
  const wanted: Readonly<Record<string, readonly string[]>> = {
    p000: ['p000', 'p002'],
    p001: ['p002'],
    p002: ['p002'],
    p003: [],
  };
  const answers = await find(database, questions);
  expect(answers.map((rows) => rows.map(({ id }) => id))).toEqual(questions.map(({ since }) => wanted[since]));
  const builtOnce = built;
  await find(database, questions);
  expect(built).toBe(builtOnce);
});
