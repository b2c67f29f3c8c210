import { stat } from 'node:fs/promises';
import { sql } from 'kysely';
import { toDatabaseError } from './database-error.js';
import { connectDatabase, isPostgres, readSupportedVersion } from './database.js';
import type { Database, DatabaseTarget } from './database.js';
import { MIGRATIONS, readSchemaVersion } from './migrate.js';
import { assertServerKey } from './server-key-check.js';
import type { ServerKey } from './server-key.js';

/** The result of inspecting a database. */
export interface DatabaseStatus {
  /** The name and version of the engine. */
  readonly engine: string;
  /** The version of the tables relative to this release. */
  readonly schema: 'current' | 'newer' | 'none' | 'older';
  /** A description of corrupt data; `undefined` for an intact database. */
  readonly damage: string | undefined;
  /** The number of users. */
  readonly userCount: number;
  /** Whether the database was used with a different server key. */
  readonly hasDifferentKey: boolean;
}

/**
 * Inspects a database without changing it, even while a server uses it.
 *
 * @returns `undefined` if the database does not exist yet.
 * @throws DatabaseError if it can't be reached.
 */
export async function inspectDatabase(place: DatabaseTarget, key?: ServerKey): Promise<DatabaseStatus | undefined> {
  if ('file' in place && (await stat(place.file).catch(() => undefined)) === undefined) return undefined;
  const database = connectDatabase(place);
  try {
    return await read(database, key);
  } catch (error) {
    throw toDatabaseError(error);
  } finally {
    await database.destroy();
  }
}

async function read(database: Database, key: ServerKey | undefined): Promise<DatabaseStatus> {
  const engine = isPostgres(database)
    ? `PostgreSQL ${await readSupportedVersion(database)}`
    : await readSqlite(database);
  const version = await readSchemaVersion(database);
  const schema = compare(version);
  const damage = isPostgres(database) ? undefined : await findDamage(database);
  if (schema !== 'current') return { engine, schema, damage, userCount: 0, hasDifferentKey: false };
  const count = database.selectFrom('people').select(({ fn }) => fn.countAll<number>().as('people'));
  const { people } = await count.executeTakeFirstOrThrow();
  return { engine, schema, damage, userCount: people, hasDifferentKey: await isOfOtherKey(database, key) };
}

function compare(version: number): DatabaseStatus['schema'] {
  if (version === 0) return 'none';
  if (version === MIGRATIONS.length) return 'current';
  return version < MIGRATIONS.length ? 'older' : 'newer';
}

async function readSqlite(database: Database): Promise<string> {
  const { rows } = await sql<{ version: string }>`select sqlite_version() as version`.execute(database);
  return `SQLite ${rows[0]?.version ?? ''}`;
}

/** Checks the integrity of a SQLite database. PostgreSQL checks its own pages. */
async function findDamage(database: Database): Promise<string | undefined> {
  const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check(1)`.execute(database);
  const found = rows[0]?.integrity_check;
  if (found !== 'ok') return found ?? 'its integrity could not be checked';
  const { rows: orphans } = await sql<{ table: string }>`pragma foreign_key_check`.execute(database);
  return orphans[0] === undefined ? undefined : `a row of ${orphans[0].table} refers to a missing row`;
}

async function isOfOtherKey(database: Database, key: ServerKey | undefined): Promise<boolean> {
  const known = await database.selectFrom('server_key').select('id').executeTakeFirst();
  if (known === undefined) return false;
  if (key === undefined) return true;
  return assertServerKey(database, key).then(
    () => false,
    () => true,
  );
}
