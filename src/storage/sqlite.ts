/** The Kysely dialect for SQLite. */
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { findStorageFault } from '@trellis/core/storage';
import type {
  DatabaseConnection,
  Driver,
  QueryResult,
  SqliteDatabase,
  SqliteStatement,
  TransactionSettings,
} from 'kysely';
import { LRUCache } from 'lru-cache';
import { CompiledQuery, SqliteDialect, SqliteDriver } from './kysely.js';

/** The time for which a query waits for another connection's write before it fails. */
const BUSY_TIMEOUT_MS = 5_000;

/** A try takes some microseconds. Longer pauses would leave the database idle between the writes of several workers. */
const BUSY_RETRY_MS = 1;

/** Enough for the indexes of some hundred thousand rows, so that writes need no reads from the disk. */
const CACHE_KIB = 16_384;

/** 16 MB of log, so that a page which many commits change is written to the database once. */
const CHECKPOINT_PAGES = 4_000;

/** The number of cached prepared statements. Lists of variable length produce new SQL texts, so it is bounded. */
const MAX_STATEMENTS = 500;

/** Creates the dialect with one connection to a file, or to `:memory:`. */
export function sqliteDialect(file: string): SqliteDialect {
  const database = openSqlite(file);
  return new (class extends SqliteDialect {
    override createDriver(): Driver {
      return new WaitingDriver({ database });
    }
  })({ database });
}

/**
 * Opens a SQLite file, or `:memory:`, for data that must survive a power failure: a commit returns when the data is on
 * the disk.
 *
 * @param Connection The driver, which may be replaced by one with the same API, such as that of Node.
 */
export function openSqlite(file: string, Connection = DatabaseSync): SqliteDatabase {
  const connection = new Connection(file, { enableForeignKeyConstraints: true, timeout: BUSY_TIMEOUT_MS });
  connection.exec('pragma journal_mode = wal');
  connection.exec('pragma synchronous = full');
  connection.exec(`pragma cache_size = ${-CACHE_KIB}; pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  // WaitingConnection waits instead, without blocking the event loop.
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

/** Moves the log into the database file. Closing does not always do so while statements await garbage collection. */
function checkpoint(connection: DatabaseSyncInstance): void {
  try {
    connection.exec('pragma wal_checkpoint(passive)');
  } catch {
    // A transaction is open, or the file is not a database. The next connection handles the log.
  }
}

function prepare(connection: DatabaseSyncInstance, sql: string): SqliteStatement {
  const statement = connection.prepare(sql);
  return {
    reader: statement.columns().length > 0,
    all: (parameters): unknown[] => statement.all(...parameters.map(toBindable)),
    run: (parameters) => statement.run(...parameters.map(toBindable)),
    // The iterator itself does not keep the statement from garbage collection, after which its next step would crash.
    iterate: (parameters) => Object.assign(statement.iterate(...parameters.map(toBindable)), { statement }),
  };
}

/**
 * Acquires the write lock at the beginning of a transaction. A deferred transaction would fail at its first write if
 * another connection wrote after its first read. Queries wait for writes of other connections without blocking the
 * process, because the other connection may belong to this process.
 */
class WaitingDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection, settings?: TransactionSettings): Promise<void> {
    // A read-only transaction reads from a snapshot and needs no lock.
    const mode = settings?.accessMode === 'read only' ? 'deferred' : 'immediate';
    await connection.executeQuery(CompiledQuery.raw(`begin ${mode}`));
  }

  /**
   * SQLite has already rolled back after some errors, such as that of a full disk. The failure of a second attempt would
   * hide the error.
   */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await super.rollbackTransaction(connection).catch(() => undefined);
  }

  #waiting: WaitingConnection | undefined;

  override async acquireConnection(): Promise<DatabaseConnection> {
    // The driver has only one connection, which all callers share.
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
    const deadline = performance.now() + BUSY_TIMEOUT_MS;
    for (;;) {
      try {
        return await this.#connection.executeQuery<R>(query);
      } catch (error) {
        if (!isBusy(error) || performance.now() >= deadline) throw error;
      }
      await sleep(BUSY_RETRY_MS);
    }
  }

  streamQuery<R>(query: CompiledQuery, chunkSize?: number): AsyncIterableIterator<QueryResult<R>> {
    return this.#connection.streamQuery<R>(query, chunkSize ?? 1);
  }
}

function isBusy(error: unknown): boolean {
  return findStorageFault(error) === 'busy';
}

/** Returns whether SQLite itself has thrown the error. */
export function isSqliteError(error: unknown): error is { readonly errcode: unknown } {
  return typeof error === 'object' && error !== null && 'errcode' in error;
}

/** The values that both SQLite and PostgreSQL store and return unchanged. */
type Bindable = number | string | Uint8Array | null;

/**
 * Converts a value to a statement parameter; booleans become 0 and 1.
 *
 * The driver silently treats a Date or an object as a set of named parameters, stores NaN as NULL, and truncates text
 * at a NUL when it reads it.
 *
 * @throws TypeError for these values, and for any others that a database would not return unchanged.
 */
export function toBindable(value: unknown): Bindable {
  if (value === null || value instanceof Uint8Array) return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'number' && isExact(value)) return value;
  if (typeof value === 'string' && !value.includes('\0')) return value;
  throw new TypeError(`Expected text without NUL, an exact number, bytes or null to store; received ${nameOf(value)}.`);
}

/** Integers beyond 2^53 are not exact. */
function isExact(value: number): boolean {
  return Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
}

function nameOf(value: unknown): string {
  if (typeof value === 'string') return 'text with NUL';
  if (typeof value === 'number') return String(value);
  return value instanceof Object ? value.constructor.name : typeof value;
}
