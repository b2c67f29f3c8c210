import { EventEmitter, once } from 'node:events';
import type { Kysely } from 'kysely';
import {
  type Database,
  type DatabaseTarget,
  inTransaction,
  runInSharedTransaction,
} from '../../src/storage/database.js';
import { migrate } from '../../src/storage/migrate.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { createDatabaseTarget, openTestDatabase } from './engine.js';

const person = {
  id: 'p1',
  username: 'Ada',
  username_key: 'ada',
  display_name: 'Ada',
  is_admin: 1,
  created_at: 1_795_000_000_000,
};

let place: DatabaseTarget;

beforeEach(async () => {
  place = await createDatabaseTarget();
});

describe('database', () => {
  test('keeps rows after it was closed', async () => {
    const first = await openDatabase(place);
    await first.insertInto('people').values(person).execute();
    await first.destroy();
    const second = await openDatabase(place);
    expect(await second.selectFrom('people').selectAll().execute()).toEqual([person]);
    await second.destroy();
  });

  test('enforces foreign keys', async () => {
    const database = await openTestDatabase();
    const session = { id_hash: 'h', person_id: 'nobody', created_at: 1, expires_at: 2 };
    await expect(database.insertInto('sessions').values(session).execute()).rejects.toThrow(/foreign key/i);
    await database.destroy();
  });

  test('can be migrated by two processes at the same time', async () => {
    const openers = await Promise.all([openDatabase(place), openDatabase(place)]);
    for (const database of openers) expect(await database.selectFrom('people').selectAll().execute()).toEqual([]);
    await Promise.all(openers.map((database) => database.destroy()));
  });

  test('rolls back a failed migration', async () => {
    const database = await openTestDatabase();
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

  test('rejects a database of a newer release', async () => {
    const database = await openTestDatabase();
    await expect(migrate(database, [])).rejects.toThrow(
      /^the database has version \d+ of a newer release; this release supports versions up to 0$/,
    );
    await database.destroy();
  });

  test('rolls back a transaction that throws', async () => {
    const database = await openTestDatabase();
    const work = inTransaction(database, async (transaction) => {
      await transaction.insertInto('people').values(person).execute();
      throw new Error('changed my mind');
    });
    await expect(work).rejects.toThrow('changed my mind');
    expect(await database.selectFrom('people').selectAll().execute()).toEqual([]);
    await database.destroy();
  });

  test('joins the transaction in which it is called', async () => {
    const database = await openTestDatabase();
    const outer = inTransaction(database, async (transaction) => {
      await inTransaction(transaction, (inner) => inner.insertInto('people').values(person).execute());
      throw new Error('changed my mind');
    });
    await expect(outer).rejects.toThrow('changed my mind');
    expect(await database.selectFrom('people').selectAll().execute()).toEqual([]);
    await database.destroy();
  });

  test('isolates a transaction from concurrent writers', async () => {
    const replicas = [await openDatabase(place), await openDatabase(place)];
    const count = (database: Database) =>
      inTransaction(database, async (transaction) => {
        const rows = await transaction.selectFrom('people').select('id').execute();
        const id = String(rows.length);
        await transaction
          .insertInto('people')
          .values({ ...person, id, username_key: id })
          .execute();
      });
    await Promise.all([...replicas, ...replicas, ...replicas, ...replicas].map(count));
    const rows = await replicas[0]!.selectFrom('people').select('id').orderBy('id').execute();
    expect(rows.map(({ id }) => id)).toEqual(['0', '1', '2', '3', '4', '5', '6', '7']);
    await Promise.all(replicas.map((database) => database.destroy()));
  });

  test('reports a duplicate key that is not due to a conflict', async () => {
    const database = await openTestDatabase();
    await database.insertInto('people').values(person).execute();
    const again = inTransaction(database, (transaction) => transaction.insertInto('people').values(person).execute());
    await expect(again).rejects.toThrow(/unique/i);
    await database.destroy();
  });

  describe('a shared transaction', () => {
    let database: Database;
    beforeEach(async () => {
      database = await openTestDatabase();
    });
    afterEach(() => database.destroy());

    const add = (id: string) =>
      database
        .insertInto('people')
        .values({ ...person, id, username_key: id })
        .execute();
    const ids = async () =>
      (await database.selectFrom('people').select('id').orderBy('id').execute()).map(({ id }) => id);

    test('is joined by all functions that use the database', async () => {
      const work = runInSharedTransaction(database, async () => {
        await add('a');
        await inTransaction(database, () => add('b'));
        await runInSharedTransaction(database, () => add('c'));
        expect(await ids()).toEqual(['a', 'b', 'c']);
        throw new Error('changed my mind');
      });
      await expect(work).rejects.toThrow('changed my mind');
      expect(await ids()).toEqual([]);
    });

    test('is not joined by concurrent work', async () => {
      const turns = new EventEmitter();
      const paused = once(turns, 'goOn');
      const shared = runInSharedTransaction(database, async () => {
        await add('a');
        await paused;
        throw new Error('changed my mind');
      });
      const other = add('b');
      turns.emit('goOn');
      await expect(shared).rejects.toThrow('changed my mind');
      await other;
      expect(await ids()).toEqual(['b']);
    });

    test('is rolled back when a transaction inside failed, even if the error was caught', async () => {
      const work = runInSharedTransaction(database, async () => {
        const inner = inTransaction(database, async () => {
          await add('a');
          throw new Error('inner');
        });
        await inner.catch(() => undefined);
      });
      await expect(work).rejects.toThrow('inner');
      expect(await ids()).toEqual([]);
    });

    test('releases work that outlives it', async () => {
      const turns = new EventEmitter();
      const ended = once(turns, 'ended');
      let later: Promise<unknown> | undefined;
      await runInSharedTransaction(database, async () => {
        later = ended.then(() => add('a'));
      });
      turns.emit('ended');
      await later;
      expect(await ids()).toEqual(['a']);
    });
  });
});
