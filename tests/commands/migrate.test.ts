import path from 'node:path';
import { migrateCommand } from '../../src/commands/migrate.js';
import type { Database } from '../../src/storage/database.js';
import { migrate, MIGRATIONS } from '../../src/storage/migrate.js';
import { explicitRecipients } from '../../src/storage/migrations/0018-0031-trust-and-history.js';
import { inspectDatabase, openDatabase } from '../../src/storage/open-database.js';
import { openStateFolder } from '../../src/storage/state-folder.js';
import { createDatabaseTarget, createTestFolder, engine } from '../storage/engine.js';
import { type CommandOutcome, runCommand } from './run-command.js';

/** The number of the first migration that deletes rows. */
const SECRET_VALUES = 13;

async function createOld(version: number) {
  const state = await createTestFolder();
  const place = engine === 'SQLite' ? { file: path.join(state, 'trellis.db') } : await createDatabaseTarget();
  const database = await openDatabase(place, { migrations: MIGRATIONS.slice(0, version) });
  const run = (...flags: string[]): Promise<CommandOutcome> => {
    const where = 'url' in place ? ['--database-url', place.url] : [];
    return runCommand(({ out }) => migrateCommand(out), ['--state', state, ...where, ...flags]);
  };
  return { database, place, state, run };
}

async function addObject(database: Database): Promise<void> {
  const at = { created_at: 1, updated_at: 1 };
  const row = { id: 'o', name: 'a', slug: 'a', kind: 'generic', ...at, sealed: new Uint8Array([1]) };
  const columns = (await database.introspection.getTables()).find(({ name }) => name === 'secret_objects')!.columns;
  const filled = columns.map(({ name, dataType }) => [
    name,
    Object.hasOwn(row, name) ? row[name as keyof typeof row] : /int/iu.test(dataType) ? 1 : 'x',
  ]);
  await database
    .insertInto('secret_objects')
    .values(Object.fromEntries(filled) as never)
    .execute();
}

test('migrate --dry-run: lists statements and rows to delete, and changes nothing', async () => {
  const { database, run } = await createOld(SECRET_VALUES - 1);
  await addObject(database);
  const { code, out } = await run('--dry-run');
  expect(code).toBe(0);
  expect(out).toMatch(
    /^13 secretValues: deletes 1 rows of secret_objects\n {2}create table "secret_object_values" \(/mu,
  );
  expect(out).toMatch(/^\d+ backupSchedule\n {2}create table "backup_schedule" \(/mu);
  await expect(database.selectFrom('secret_object_values').selectAll().execute()).rejects.toThrow();
  await database.destroy();
});

test('migrate: deletes rows only if that is allowed', async () => {
  const { database, place, run } = await createOld(SECRET_VALUES - 1);
  await addObject(database);
  await expect(openDatabase(place)).rejects.toThrow('migration 13 would delete 1 rows of secret_objects');
  await expect(run())
    .rejects.toThrow('would delete 1 rows')
    .catch(async () => {
      expect((await run()).err).toContain('would delete 1 rows');
    });
  expect(await database.selectFrom('secret_objects').select('id').execute()).toHaveLength(1);
  await database.destroy();
  expect(await run('--delete-rows')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^Completed migrations:/u) as string,
  });
  expect(await run('--dry-run')).toMatchObject({ code: 0, out: 'The database is up to date.\n' });
});

if (engine === 'SQLite') {
  test('migrate: stops while a server uses the state folder', async () => {
    const { database, state, run } = await createOld(1);
    await database.destroy();
    const folder = await openStateFolder(state);
    expect(await run()).toMatchObject({ code: 1, err: expect.stringContaining('in use by another server') as string });
    folder.close();
  });
}

test('an older release works with tables that were only expanded', async () => {
  const { database, place } = await createOld(MIGRATIONS.length);
  await database.destroy();
  const older = MIGRATIONS.slice(0, -1);
  const opened = await openDatabase(place, { migrations: older });
  await migrate(opened, older);
  await opened.destroy();
  // This migration changes how lists are stored.
  const before = MIGRATIONS.slice(0, MIGRATIONS.indexOf(explicitRecipients));
  await expect(openDatabase(place, { migrations: before })).rejects.toThrow('of a newer release');
  expect(await inspectDatabase(place)).toMatchObject({ schema: 'current' });
});
