/** SQLite behind Kysely. */
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import { CompiledQuery, SqliteDialect, SqliteDriver } from 'kysely';
import type {
  DatabaseConnection,
  Driver,
  QueryResult,
  SqliteDatabase,
  SqliteStatement,
  TransactionSettings,
} from 'kysely';
import { LRUCache } from 'lru-cache';
import { toBindable } from './bindable.js';

/** How long a connection waits for another one's write before it fails. */
const BUSY_TIMEOUT_MS = 5_000;
const BUSY_RETRY_MS = 10;

/** The indexes of some hundred thousand rows, so that a write to any of them reads nothing first. */
const CACHE_KIB = 16_384;

/** 16 MB of log: a page that many commits change goes to its place once. */
const CHECKPOINT_PAGES = 4_000;

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
 *
 * @param Connection Another driver of the same API, such as Node's own.
 */
export function openSqlite(file: string, Connection = DatabaseSync): SqliteDatabase {
  const connection = new Connection(file, { enableForeignKeyConstraints: true, timeout: BUSY_TIMEOUT_MS });
  connection.exec('pragma journal_mode = wal');
  connection.exec('pragma synchronous = full');
  connection.exec(`pragma cache_size = ${-CACHE_KIB}; pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  // Waiting is done above, where it holds up nobody else.
  connection.exec('pragma busy_timeout = 0');
  const statements = new LRUCache<string, SqliteStatement>({ max: MAX_STATEMENTS });
  return {
    close() {
      checkpoint(connection);
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

/** Statements that are yet to be collected keep the log beside the file, which should do alone. */
function checkpoint(connection: DatabaseSyncInstance): void {
  try {
    connection.exec('pragma wal_checkpoint(passive)');
  } catch {
    // A transaction is open, or the file is none: whoever opens it next will see to it.
  }
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
 * then writes fails at once when another connection wrote in between. Whatever
 * meets another connection's write waits for it without blocking the process,
 * which may itself hold that connection.
 */
class WaitingDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection, settings?: TransactionSettings): Promise<void> {
    // Who only reads sees one moment, and is in nobody's way.
    const mode = settings?.accessMode === 'read only' ? 'deferred' : 'immediate';
    await connection.executeQuery(CompiledQuery.raw(`begin ${mode}`));
  }

  #waiting: WaitingConnection | undefined;

  override async acquireConnection(): Promise<DatabaseConnection> {
    // There is but one, which is handed round.
    const connection = await super.acquireConnection();
    return (this.#waiting ??= new WaitingConnection(connection));
  }
}

class WaitingConnection implements DatabaseConnection {
  readonly #connection: DatabaseConnection;

  constructor(connection: DatabaseConnection) {
    this.#connection = connection;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const deadline = Date.now() + BUSY_TIMEOUT_MS;
    for (;;) {
      try {
        return await this.#connection.executeQuery<R>(query);
      } catch (error) {
        if (!isBusy(error) || Date.now() >= deadline) throw error;
      }
      await sleep(BUSY_RETRY_MS);
    }
  }

  streamQuery<R>(query: CompiledQuery, chunkSize?: number): AsyncIterableIterator<QueryResult<R>> {
    return this.#connection.streamQuery<R>(query, chunkSize ?? 1);
  }
}

function isBusy(error: unknown): boolean {
  return isSqliteError(error) && error.errcode === SQLITE_BUSY;
}

/** Whether it is SQLite's own. */
export function isSqliteError(error: unknown): error is { readonly errcode: unknown } {
  return typeof error === 'object' && error !== null && 'errcode' in error;
}
