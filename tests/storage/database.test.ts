import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import type { Kysely } from 'kysely';
import { inTransaction, openDatabase } from '../../src/storage/database.js';
import { migrate } from '../../src/storage/migrate.js';

const person = {
  id: 'p1',
  username: 'Ada',
  username_key: 'ada',
  display_name: 'Ada',
  is_admin: 1,
  created_at: 1_795_000_000_000,
};

let directory: string;
let file: string;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'trellis-storage-'));
  file = path.join(directory, 'precious.db');
});

afterEach(() => rm(directory, { recursive: true }));

test('keeps rows across a close', async () => {
  const first = await openDatabase({ file });
  await first.insertInto('people').values(person).execute();
  await first.destroy();
  const second = await openDatabase({ file });
  expect(await second.selectFrom('people').selectAll().execute()).toEqual([person]);
  await second.destroy();
});

test('writes ahead, syncs every commit and enforces foreign keys', async () => {
  const database = await openDatabase({ file });
  const session = { id_hash: 'h', person_id: 'nobody', created_at: 1, expires_at: 2 };
  await expect(database.insertInto('sessions').values(session).execute()).rejects.toThrow(/FOREIGN KEY/);
  await database.destroy();
  const raw = new DatabaseSync(file);
  expect(raw.prepare('pragma journal_mode').get()).toMatchObject({ journal_mode: 'wal' });
  raw.close();
});

test('lets two openers migrate one file at once', async () => {
  const openers = await Promise.all([openDatabase({ file }), openDatabase({ file })]);
  for (const database of openers) expect(await database.selectFrom('people').selectAll().execute()).toEqual([]);
  await Promise.all(openers.map((database) => database.destroy()));
});

test('runs each migration once', async () => {
  const database = await openDatabase({ file: ':memory:' });
  await migrate(database);
  await migrate(database);
  expect(await database.selectFrom('people').selectAll().execute()).toEqual([]);
  await database.destroy();
});

test('keeps nothing of a migration that fails', async () => {
  const database = await openDatabase({ file: ':memory:' });
  const makeTable = (db: Kysely<unknown>) => db.schema.createTable('half').addColumn('id', 'integer').execute();
  const { version } = await database
    .withTables<{ schema_versions: { version: number } }>()
    .selectFrom('schema_versions')
    .select(({ fn }) => fn.max('version').as('version'))
    .executeTakeFirstOrThrow();
  const done = Array.from({ length: version }, () => () => Promise.resolve());
  const broken = [...done, makeTable, () => Promise.reject(new Error('broken'))];
  await expect(migrate(database, broken)).rejects.toThrow('broken');
  expect((await database.introspection.getTables()).map(({ name }) => name)).not.toContain('half');
  await database.destroy();
});

test('refuses a database of a newer release', async () => {
  const database = await openDatabase({ file: ':memory:' });
  await expect(migrate(database, [])).rejects.toThrow(
    /^expected a database of version 0 at most; it is of version \d+, which a newer release wrote$/,
  );
  await database.destroy();
});

test('keeps nothing of a transaction that throws', async () => {
  const database = await openDatabase({ file: ':memory:' });
  const work = inTransaction(database, async (transaction) => {
    await transaction.insertInto('people').values(person).execute();
    throw new Error('changed my mind');
  });
  await expect(work).rejects.toThrow('changed my mind');
  expect(await database.selectFrom('people').selectAll().execute()).toEqual([]);
  await database.destroy();
});

test('joins the transaction that it is called in', async () => {
  const database = await openDatabase({ file: ':memory:' });
  const outer = inTransaction(database, async (transaction) => {
    await inTransaction(transaction, (inner) => inner.insertInto('people').values(person).execute());
    throw new Error('changed my mind');
  });
  await expect(outer).rejects.toThrow('changed my mind');
  expect(await database.selectFrom('people').selectAll().execute()).toEqual([]);
  await database.destroy();
});

test('waits for another connection that is writing, also when it reads first', async () => {
  const [first, second] = [await openDatabase({ file }), await openDatabase({ file })];
  const count = (database: typeof first) =>
    inTransaction(database, async (transaction) => {
      const rows = await transaction.selectFrom('people').select('id').execute();
      const id = String(rows.length);
      await transaction
        .insertInto('people')
        .values({ ...person, id, username_key: id })
        .execute();
    });
  for (let round = 0; round < 5; round++) {
    await count(first);
    await count(second);
  }
  expect(await first.selectFrom('people').select('id').execute()).toHaveLength(10);
  await Promise.all([first.destroy(), second.destroy()]);
});
