import { stat, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findStorageFault, makeDatabasePrivate } from '@trellis/core/storage';
import {
  connectDatabase,
  type ConnectOptions,
  type Database,
  DatabaseError,
  type DatabaseTarget,
  isPostgres,
  toDatabaseError,
} from './database.js';
import { sql } from './kysely.js';
import { assertMigrated, migrate, type Migration, MIGRATIONS, readSchema, type SchemaState } from './migrate.js';
import { assertNoServers } from './notices.js';
import { isKeyOf, type ServerKey, SERVER_KEY_FILE } from './server-key.js';
import { StateFolderError } from './state-folder.js';

const OLDEST_POSTGRES = 15;

interface OpenOptions extends ConnectOptions {
  readonly migrations?: readonly Migration[];
  /** Whether migrations may delete rows. */
  readonly deleteRows?: boolean;
  /** Rejects for a database that must not be migrated. */
  readonly beforeMigration?: (database: Database) => Promise<void>;
}

/**
 * Opens the database and migrates its tables, after other processes that do the same.
 *
 * The caller closes it with `destroy()`.
 *
 * @throws DatabaseError if the database can't be reached or accessed, or is older than PostgreSQL 15.
 */
export async function openDatabase(
  place: DatabaseTarget,
  { migrations = MIGRATIONS, deleteRows = false, beforeMigration, ...options }: OpenOptions = {},
): Promise<Database> {
  const run = async (database: Database): Promise<void> => {
    await beforeMigration?.(database);
    await migrate(database, migrations, { deleteRows });
  };
  if ('file' in place) {
    makeDatabasePrivate(place.file);
    return open(place, run, options);
  }
  const isMigrated = async (database: Database) => (await readSchema(database)).version === migrations.length;
  const migrateSlowly = async () => {
    const patient = await open(place, run, { hasDeadlines: false });
    await patient.destroy();
  };
  return open(place, async (database) => ((await isMigrated(database)) ? undefined : migrateSlowly()), options);
}

/**
 * Opens the database of a server of this release, without migration.
 *
 * @throws DatabaseError if its tables are those of a different release.
 */
export async function openMigratedDatabase(place: DatabaseTarget, options?: ConnectOptions): Promise<Database> {
  return open(place, assertMigrated, options);
}

/**
 * Fails while servers use a PostgreSQL database, as {@link assertNoServers} does. The lock of the state folder keeps servers
 * away from SQLite files.
 */
export async function assertUnusedDatabase(place: DatabaseTarget): Promise<void> {
  if ('file' in place) return;
  const database = await open(place, assertNoServers, { hasDeadlines: false });
  await database.destroy();
}

async function open(
  place: DatabaseTarget,
  prepare: (database: Database) => Promise<void>,
  options?: ConnectOptions,
): Promise<Database> {
  const database = connect(place, options);
  try {
    if (isPostgres(database)) await readSupportedVersion(database);
    await prepare(database);
  } catch (error) {
    await database.destroy();
    throw toDatabaseError(error);
  }
  return database;
}

/** @throws DatabaseError for a SQLite file that can't be opened, which is known at once. */
function connect(place: DatabaseTarget, options?: ConnectOptions): Database {
  try {
    return connectDatabase(place, options);
  } catch (error) {
    throw toDatabaseError(error);
  }
}

/**
 * Returns the version of the PostgreSQL server.
 *
 * @throws DatabaseError if it is too old.
 */
async function readSupportedVersion(database: Database): Promise<string> {
  const { rows } = await sql<{ server_version: string }>`show server_version`.execute(database);
  const version = rows[0]?.server_version ?? '';
  if (Number.parseInt(version, 10) >= OLDEST_POSTGRES) return version;
  throw new DatabaseError(`PostgreSQL ${OLDEST_POSTGRES} or later is required; the server has version ${version}`);
}

export interface DatabaseTargetConfig {
  readonly databaseUrl: string | undefined;
  /** The number of PostgreSQL connections. */
  readonly postgresPool?: number;
  /** The limits of transactions on PostgreSQL. */
  readonly postgresLockSeconds?: number;
  readonly postgresStatementSeconds?: number;
  readonly postgresIdleSeconds?: number;
  /** The state folder. */
  readonly state: string;
}

/** Returns the configured database of the user data: PostgreSQL, or a file in the state folder. */
export function toDatabaseTarget({ databaseUrl, state, ...config }: DatabaseTargetConfig): DatabaseTarget {
  if (databaseUrl === undefined) return { file: join(state, 'trellis.db') };
  const { postgresPool, postgresLockSeconds, postgresStatementSeconds, postgresIdleSeconds } = config;
  return {
    url: databaseUrl,
    ...(postgresPool !== undefined && { poolSize: postgresPool }),
    ...(postgresLockSeconds !== undefined && { lockSeconds: postgresLockSeconds }),
    ...(postgresStatementSeconds !== undefined && { statementSeconds: postgresStatementSeconds }),
    ...(postgresIdleSeconds !== undefined && { idleSeconds: postgresIdleSeconds }),
  };
}

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
  const database = connect(place);
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
  const schema = compare(await readSchema(database));
  const damage = isPostgres(database) ? undefined : await findDamage(database);
  if (schema !== 'current') return { engine, schema, damage, userCount: 0, hasDifferentKey: false };
  const count = database.selectFrom('people').select(({ fn }) => fn.countAll<number>().as('people'));
  const { people } = await count.executeTakeFirstOrThrow();
  if (damage === undefined) await assertWritable(database);
  return { engine, schema, damage, userCount: people, hasDifferentKey: await isOfOtherKey(database, key) };
}

function compare({ version, compatibleFrom }: SchemaState): DatabaseStatus['schema'] {
  if (version === 0) return 'none';
  if (compatibleFrom <= MIGRATIONS.length && MIGRATIONS.length <= version) return 'current';
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

/** Fails if the database is read-only, or the user may not write to it, as a statement does then that finds no row. */
async function assertWritable(database: Database): Promise<void> {
  try {
    await database.deleteFrom('rate_counts').where('key', '=', '').execute();
  } catch (error) {
    // A different process writes.
    if (findStorageFault(error) !== 'busy') throw error;
  }
}

async function isOfOtherKey(database: Database, key: ServerKey | undefined): Promise<boolean> {
  const known = await database.selectFrom('server_key').select('id').executeTakeFirst();
  return known !== undefined && (key === undefined || !(await isKeyOf(database, key)));
}

/** Exists in a state folder from the first start that found or created a database. */
const MARKER = 'database-created';

const MARKER_TEXT =
  'A server has used this state folder with a database. If the database is empty at a later start, that start fails.\n';

/** Returns whether the database has no tables. */
const isEmptyDatabase = async (database: Database): Promise<boolean> => (await readSchema(database)).version === 0;

/**
 * Returns what shows that a state folder was used with a database before; `undefined` for a new folder.
 *
 * Beside SQLite, a key is enough, because a start creates it after the database. Beside PostgreSQL it may have been
 * copied for a new server.
 */
export async function findTraceOfDatabase(
  state: string,
  { isSqlite }: { readonly isSqlite: boolean },
): Promise<string | undefined> {
  const names = [MARKER, 'images.db', ...(isSqlite ? [SERVER_KEY_FILE] : ['trellis.db'])];
  for (const name of names) if (await hasContent(join(state, name))) return name;
  const records = await readdir(join(state, 'site')).catch(() => []);
  return records.some((name) => name.endsWith('.db')) ? 'site' : undefined;
}

/**
 * Ensures that an empty database is used only in a new state folder, or if the operator asks for it. Otherwise a failed
 * mount or a wrong DATABASE_URL would look like a new installation, whose first visitor becomes the admin.
 *
 * @throws StateFolderError
 */
export async function assertDatabaseKept(database: Database, state: string): Promise<void> {
  if (!(await isEmptyDatabase(database))) return;
  const trace = await findTraceOfDatabase(state, { isSqlite: !isPostgres(database) });
  if (trace !== undefined) throw new StateFolderError(toEmptyMessage(trace));
}

const toEmptyMessage = (trace: string): string =>
  `the database is empty or missing, but ${trace} shows that there was one; restore it or a backup, or start with --new-database`;

/** Records that the state folder has a database. A failure, such as a full disk, leaves it to the next start. */
export async function markDatabaseCreated(state: string): Promise<void> {
  const file = join(state, MARKER);
  if (await hasContent(file)) return;
  await writeFile(file, MARKER_TEXT, { mode: 0o600 }).catch(() => undefined);
}

const hasContent = (file: string): Promise<boolean> =>
  stat(file).then(
    ({ size }) => size > 0,
    () => false,
  );
