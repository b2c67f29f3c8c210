import type { Database } from '../../src/storage/database.js';
import { MIGRATIONS, migrate } from '../../src/storage/migrate.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { createDatabaseTarget, openTestDatabase } from './engine.js';

/** Returns the tables with their columns as the engine reports them. */
async function describeTables(database: Database): Promise<unknown> {
  const tables = await database.introspection.getTables();
  return tables
    .map(({ name, columns }) => [name, columns.map((column) => [column.name, column.dataType, column.isNullable])])
    .sort();
}

let current: unknown;
beforeAll(async () => {
  const database = await openTestDatabase();
  current = await describeTables(database);
  await database.destroy();
});

test.each(MIGRATIONS.map((_migration, index) => index))(
  'migrate a database of version %i, and preserve its data',
  async (version) => {
    const place = await createDatabaseTarget();
    const before = MIGRATIONS.slice(0, version);
    const old = await openDatabase(place, { migrations: before });
    const person = { id: 'p', username: 'A', username_key: 'a', display_name: 'A', is_admin: 1, created_at: 1 };
    if (version > 0) await old.insertInto('people').values(person).execute();
    await old.destroy();
    const database = await openDatabase(place);
    expect(await describeTables(database)).toEqual(current);
    expect(await database.selectFrom('people').selectAll().execute()).toEqual(version > 0 ? [person] : []);
    await database.destroy();
  },
);

test('migrations: each runs once', async () => {
  const database = await openTestDatabase();
  await migrate(database);
  expect(await describeTables(database)).toEqual(current);
  await database.destroy();
});
