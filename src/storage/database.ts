import { Kysely } from 'kysely';
import { migrate } from './migrate.js';
import { sqliteDialect } from './sqlite.js';
import type { Tables } from './tables.js';

/** The precious data: accounts, boards and secrets. */
export type Database = Kysely<Tables>;

/**
 * Opens the database and brings its tables up to date, which waits for another
 * process that is doing the same.
 *
 * The caller ends it with `destroy()`.
 */
export async function openDatabase({ file }: { readonly file: string }): Promise<Database> {
  const database: Database = new Kysely({ dialect: sqliteDialect(file) });
  try {
    await migrate(database);
  } catch (error) {
    await database.destroy();
    throw error;
  }
  return database;
}

/**
 * Runs `work` in one transaction: all of it is kept, or, when it throws, nothing.
 * Inside a transaction it joins that one, so domain functions can call each other.
 *
 * Inside `work`, query only what it is given: anything else waits for the
 * transaction, and so for itself.
 */
export async function inTransaction<T>(database: Database, work: (transaction: Database) => Promise<T>): Promise<T> {
  return database.isTransaction ? work(database) : database.transaction().execute(work);
}
