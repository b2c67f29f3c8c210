/** SQLite behind Kysely. */
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import { CompiledQuery, SqliteDialect, SqliteDriver } from 'kysely';
import type { DatabaseConnection, Driver, SqliteDatabase, SqliteStatement, TransactionSettings } from 'kysely';
import { LRUCache } from 'lru-cache';
import { toBindable } from './bindable.js';

/** How long a connection waits for another one's write before it fails. */
const BUSY_TIMEOUT_MS = 5_000;
const BUSY_RETRY_MS = 10;

/** SQLite's own number for "another connection is writing". */
const SQLITE_BUSY = 5;

/** Distinct SQL texts kept prepared; lists of variable length make new texts, so the number is bounded. */
const MAX_STATEMENTS = 500;

/** One connection to a file, or to `:memory:`. */
export function sqliteDialect(file: string): SqliteDialect {
  const database = openSqlite(file);
  return new (class extends SqliteDialect {
    override createDriver(): Driver {
      return new WaitingDriver({ database });
    }
  })({ database });
}

/**
 * Opens a SQLite file, or `:memory:`, for data that must survive a power cut:
 * a commit has reached the disk when it returns.
 */
export function openSqlite(file: string): SqliteDatabase {
  const connection = new DatabaseSync(file, { enableForeignKeyConstraints: true, timeout: BUSY_TIMEOUT_MS });
  connection.exec('pragma journal_mode = wal');
  connection.exec('pragma synchronous = full');
  const statements = new LRUCache<string, SqliteStatement>({ max: MAX_STATEMENTS });
  return {
    close() {
      // Statements that are yet to be collected keep the log beside the file, which should do alone.
      connection.exec('pragma wal_checkpoint(passive)');
      connection.close();
    },
    prepare(sql) {
      const known = statements.get(sql);
      if (known !== undefined) return known;
      const statement = prepare(connection, sql);
      statements.set(sql, statement);
      return statement;
    },
  };
}

function prepare(connection: DatabaseSyncInstance, sql: string): SqliteStatement {
  const statement = connection.prepare(sql);
  return {
    reader: statement.columns().length > 0,
    all: (parameters): unknown[] => statement.all(...parameters.map(toBindable)),
    run: (parameters) => statement.run(...parameters.map(toBindable)),
    iterate: (parameters) => statement.iterate(...parameters.map(toBindable)),
  };
}

/**
 * Takes the write lock as a transaction begins: a deferred one that reads and
 * then writes fails at once when another connection wrote in between, whatever
 * the busy timeout. It waits without blocking the process, which may itself
 * hold the other connection.
 */
class WaitingDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection, settings?: TransactionSettings): Promise<void> {
    // Who only reads sees one moment, and is in nobody's way.
    if (settings?.accessMode === 'read only') return super.beginTransaction(connection);
    const deadline = Date.now() + BUSY_TIMEOUT_MS;
    await setBusyTimeout(connection, 0);
    try {
      while (!(await tryBegin(connection, deadline))) await sleep(BUSY_RETRY_MS);
    } finally {
      await setBusyTimeout(connection, BUSY_TIMEOUT_MS);
    }
  }
}

async function setBusyTimeout(connection: DatabaseConnection, milliseconds: number): Promise<void> {
  await connection.executeQuery(CompiledQuery.raw(`pragma busy_timeout = ${milliseconds}`));
}

async function tryBegin(connection: DatabaseConnection, deadline: number): Promise<boolean> {
  try {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
    return true;
  } catch (error) {
    if (isBusy(error) && Date.now() < deadline) return false;
    throw error;
  }
}

function isBusy(error: unknown): boolean {
  return isSqliteError(error) && error.errcode === SQLITE_BUSY;
}

/** Whether it is SQLite's own. */
export function isSqliteError(error: unknown): error is { readonly errcode: unknown } {
  return typeof error === 'object' && error !== null && 'errcode' in error;
}
