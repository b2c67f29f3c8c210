import { Kysely, PostgresAdapter, sql } from 'kysely';
import { limitConcurrency } from '../core/concurrency.js';
import type { ConcurrencyLimit } from '../core/concurrency.js';
import { retrySerializationFailures } from './serialization-failures.js';
import { DatabaseError, toDatabaseError } from './database-error.js';
import { createTransactionContext, withTransactionContext } from './transaction-context.js';
import type { TransactionContext } from './transaction-context.js';
import { MIGRATIONS, migrate, assertMigrated } from './migrate.js';
import type { Migration } from './migrate.js';
import { postgresDialect } from './postgres.js';
import { makeDatabasePrivate } from '../core/private-file.js';
import { sqliteDialect } from './sqlite.js';
import type { Tables } from './tables.js';

/** The database of the user data: accounts, boards and secrets. */
export type Database = Kysely<Tables>;

/** A SQLite file, or `:memory:`; or the URL of a PostgreSQL database, which contains the password. */
export type DatabaseTarget = { readonly file: string } | { readonly url: string };

const OLDEST_POSTGRES = 15;

/**
 * The key of the data that {@link connectDatabase} attaches to a database; a symbol can't collide with Kysely's names.
 */
const PARTS = Symbol('parts');

interface Parts {
  /** Runs one transaction of this process at a time, so that conflicts occur only with other processes. */
  readonly inTurn: ConcurrencyLimit;
  readonly joining: TransactionContext<Database>;
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
  { migrations = MIGRATIONS }: { readonly migrations?: readonly Migration[] } = {},
): Promise<Database> {
  if ('file' in place) makeDatabasePrivate(place.file);
  return open(place, (database) => migrate(database, migrations));
}

/**
 * Opens the database of a server of this release, without migration.
 *
 * @throws DatabaseError if its tables are those of a different release.
 */
export async function openMigratedDatabase(place: DatabaseTarget): Promise<Database> {
  return open(place, assertMigrated);
}

async function open(place: DatabaseTarget, prepare: (database: Database) => Promise<void>): Promise<Database> {
  const database = connectDatabase(place);
  try {
    if (isPostgres(database)) await readSupportedVersion(database);
    await prepare(database);
  } catch (error) {
    await database.destroy();
    throw toDatabaseError(error);
  }
  return database;
}

/** Connects to a database without any checks. */
export function connectDatabase(place: DatabaseTarget): Database {
  const dialect = 'url' in place ? postgresDialect(place.url) : sqliteDialect(place.file);
  const joining = createTransactionContext<Database>();
  const parts: Parts = { inTurn: limitConcurrency(1), joining };
  return withTransactionContext(new Kysely<Tables>({ dialect }), joining, { [PARTS]: parts });
}

/** Returns whether the database is PostgreSQL; otherwise it is SQLite. */
export function isPostgres(database: Database): boolean {
  return database.getExecutor().adapter instanceof PostgresAdapter;
}

/**
 * Runs `work` in one transaction, which is rolled back if `work` throws. Inside of a transaction, `work` joins it, so
 * domain functions can call each other.
 *
 * Transactions are serializable: each one behaves as if it ran alone, so the data that `work` has read is still current
 * when it writes. On PostgreSQL, `work` is repeated after a conflict with another process, so its other effects must be
 * repeatable.
 *
 * Inside of `work`, query only the given transaction: any other query would wait for the transaction to end, which is a
 * deadlock. {@link runInSharedTransaction} has no such rule.
 */
export async function inTransaction<T>(database: Database, work: (transaction: Database) => Promise<T>): Promise<T> {
  if (database.isTransaction) return join(database, work);
  // SQLite has one connection, which runs one transaction at a time.
  if (!isPostgres(database)) return database.transaction().execute(work);
  const run = () => database.transaction().setIsolationLevel('serializable').execute(work);
  const parts = findParts(database);
  return retrySerializationFailures(parts === undefined ? run : () => parts.inTurn(run));
}

/**
 * Runs `work` in one transaction that all functions called by `work` join, although they use the database itself. If a
 * transaction inside fails, everything is rolled back, and this function throws its error.
 *
 * All other writers wait for the transaction, so `work` must not wait for other servers.
 */
export async function runInSharedTransaction<T>(database: Database, work: () => Promise<T>): Promise<T> {
  return inTransaction(database, async (transaction) => {
    const parts = findParts(database);
    return parts === undefined || transaction === database ? work() : parts.joining.run(transaction, work);
  });
}

/** Reads from a snapshot of the database, without blocking writers. */
export async function inSnapshot<T>(database: Database, read: (snapshot: Database) => Promise<T>): Promise<T> {
  const transaction = database.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  return transaction.execute(read);
}

async function join<T>(transaction: Database, work: (transaction: Database) => Promise<T>): Promise<T> {
  try {
    return await work(transaction);
  } catch (reason) {
    const joined = findParts(transaction)?.joining.find();
    if (joined !== undefined) joined.failure ??= { reason };
    throw reason;
  }
}

/** Returns `undefined` for a transaction, and for a database that {@link connectDatabase} has not created. */
function findParts(database: Database): Parts | undefined {
  return (database as Partial<Readonly<Record<typeof PARTS, Parts>>>)[PARTS];
}

/**
 * Returns the version of the PostgreSQL server.
 *
 * @throws DatabaseError if it is too old.
 */
export async function readSupportedVersion(database: Database): Promise<string> {
  const { rows } = await sql<{ server_version: string }>`show server_version`.execute(database);
  const version = rows[0]?.server_version ?? '';
  if (Number.parseInt(version, 10) >= OLDEST_POSTGRES) return version;
  throw new DatabaseError(`PostgreSQL ${OLDEST_POSTGRES} or later is required; the server has version ${version}`);
}
