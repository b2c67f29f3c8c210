import { Kysely, PostgresAdapter, sql } from 'kysely';
import { inTurn } from '../in-turn.js';
import type { InTurn } from '../in-turn.js';
import { retryConflicts } from './conflicts.js';
import { DatabaseError, toDatabaseError } from './database-error.js';
import { createJoining, joinable } from './joining.js';
import type { Joining } from './joining.js';
import { MIGRATIONS, migrate, requireMigrated } from './migrate.js';
import type { Migration } from './migrate.js';
import { postgresDialect } from './postgres.js';
import { makeDatabasePrivate } from './private-file.js';
import { sqliteDialect } from './sqlite.js';
import type { Tables } from './tables.js';

/** The precious data: accounts, boards and secrets. */
export type Database = Kysely<Tables>;

/** A SQLite file, or `:memory:`; or the address of a PostgreSQL database, which holds its password. */
export type DatabasePlace = { readonly file: string } | { readonly url: string };

const OLDEST_POSTGRES = 15;

/** What goes with a database, under a name that nobody else has. */
const PARTS = Symbol('parts');

interface Parts {
  /** Whose transaction it is: those of one process take turns, and so are in the way of other processes' alone. */
  readonly inTurn: InTurn;
  readonly joining: Joining<Database>;
}

/**
 * Opens the database and brings its tables up to date, which waits for another
 * process that is doing the same.
 *
 * The caller ends it with `destroy()`.
 *
 * @throws DatabaseError when there is no PostgreSQL 15 or later that lets us in.
 */
export async function openDatabase(
  place: DatabasePlace,
  { migrations = MIGRATIONS }: { readonly migrations?: readonly Migration[] } = {},
): Promise<Database> {
  if ('file' in place) makeDatabasePrivate(place.file);
  return open(place, (database) => migrate(database, migrations));
}

/**
 * Opens a database that a server of this release uses, and changes nothing.
 *
 * @throws DatabaseError when its tables are those of another release.
 */
export async function openDatabaseAsIs(place: DatabasePlace): Promise<Database> {
  return open(place, requireMigrated);
}

async function open(place: DatabasePlace, prepare: (database: Database) => Promise<void>): Promise<Database> {
  const database = connectDatabase(place);
  try {
    if (isPostgres(database)) await requireSupported(database);
    await prepare(database);
  } catch (error) {
    await database.destroy();
    throw toDatabaseError(error);
  }
  return database;
}

/** Whatever is there, looked at by nobody. */
export function connectDatabase(place: DatabasePlace): Database {
  const dialect = 'url' in place ? postgresDialect(place.url) : sqliteDialect(place.file);
  const joining = createJoining<Database>();
  const parts: Parts = { inTurn: inTurn(1), joining };
  return joinable(new Kysely<Tables>({ dialect }), joining, { [PARTS]: parts });
}

/** Whether the database is PostgreSQL; otherwise it is SQLite. */
export function isPostgres(database: Database): boolean {
  return database.getExecutor().adapter instanceof PostgresAdapter;
}

/**
 * Runs `work` in one transaction: all of it is kept, or, when it throws, nothing.
 * Inside a transaction it joins that one, so domain functions can call each other.
 *
 * Transactions are serializable: each is as if it ran alone, so what `work` read
 * still holds when it writes. On PostgreSQL it is run again when another process
 * was in its way; whatever else it does must bear that.
 *
 * Inside `work`, query only what it is given: anything else waits for the
 * transaction, and so for itself. {@link shareTransaction} has no such rule.
 */
export async function inTransaction<T>(database: Database, work: (transaction: Database) => Promise<T>): Promise<T> {
  if (database.isTransaction) return join(database, work);
  // SQLite's transactions take turns at its one connection.
  if (!isPostgres(database)) return database.transaction().execute(work);
  const run = () => database.transaction().setIsolationLevel('serializable').execute(work);
  const parts = findParts(database);
  return retryConflicts(parts === undefined ? run : () => parts.inTurn(run));
}

/**
 * Runs `work` in one transaction that is joined by everything which is called
 * meanwhile and uses the same database, as if it had been handed it. When a
 * transaction inside fails, nothing is kept, and this throws its reason.
 *
 * Nobody else writes until it is done: it is no place to wait for other machines.
 */
export async function shareTransaction<T>(database: Database, work: () => Promise<T>): Promise<T> {
  return inTransaction(database, async (transaction) => {
    const parts = findParts(database);
    return parts === undefined || transaction === database ? work() : parts.joining.run(transaction, work);
  });
}

/** Reads the database as it is at one moment, without holding up those who write. */
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

/** @returns `undefined` for a transaction, and for a database that {@link openDatabase} did not open. */
function findParts(database: Database): Parts | undefined {
  return (database as Partial<Readonly<Record<typeof PARTS, Parts>>>)[PARTS];
}

/** @returns the server's version. @throws DatabaseError when it is too old. */
export async function requireSupported(database: Database): Promise<string> {
  const { rows } = await sql<{ server_version: string }>`show server_version`.execute(database);
  const version = rows[0]?.server_version ?? '';
  if (Number.parseInt(version, 10) >= OLDEST_POSTGRES) return version;
  throw new DatabaseError(`expected PostgreSQL ${OLDEST_POSTGRES} or later; the server is ${version}`);
}
