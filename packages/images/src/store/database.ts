import { statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { DatabaseSync, type DatabaseSyncInstance, type StatementSyncInstance } from '@photostructure/sqlite';
import { findStorageFault, isDamage, makeDatabasePrivate, moveDamagedAside } from '@trellis/core/storage';

/** A prepared statement, which is prepared again when its database is replaced. */
type ImageStatement = Pick<StatementSyncInstance, 'all' | 'get' | 'run'>;

type StatementValues = readonly unknown[];

/** The database `images.db`: image metadata, and the files and values that the quota counts. */
export interface ImageDatabase {
  prepare(sql: string): ImageStatement;
  /** Whether the database may lack files that are already on the disk. */
  readonly isNew: boolean;
  /** Acquires the write lock before `change` runs, waiting for other processes if necessary. */
  transaction(change: () => void): void;
  /** Adds a function that is called when a damaged file was replaced by an empty one while it was open. */
  onReplaced(listener: () => void): void;
  close(): void;
}

/** Increase when the stored metadata changes in content or form. All headers are then read again. */
const METADATA_VERSION = 2;

/** How long a write waits for other processes, as commands may run beside the server. */
const BUSY_TIMEOUT_MS = 5_000;

/**
 * Opens the file, or `:memory:`. A power failure may lose the latest changes, all of which can be derived again. So a
 * damaged file is moved aside and replaced, now or when a statement finds the damage.
 *
 * @param onDamage Called when that happens.
 */
export function openImageDatabase(file: string, onDamage: () => void = () => undefined): ImageDatabase {
  let connection = openOrReplace(file, onDamage);
  const listeners: (() => void)[] = [];
  let isInTransaction = false;

  function replace(): void {
    connection.database.close();
    // Another process may have replaced the file already.
    if (inodeOf(file) === connection.inode) {
      moveDamagedAside(file);
      onDamage();
    }
    connection = openOrReplace(file, onDamage);
    for (const listener of listeners) listener();
  }

  /** Runs work again if it fails because the file is damaged. */
  function recovering<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (!isDamage(error) || file === MEMORY || isInTransaction) throw error;
      replace();
      return work();
    }
  }

  function prepare(sql: string): ImageStatement {
    let prepared: { readonly database: DatabaseSyncInstance; readonly statement: StatementSyncInstance } | undefined;
    const find = (): StatementSyncInstance => {
      const { database } = connection;
      // A statement does not keep its database alive. Using it after the database was collected fails or crashes.
      if (prepared?.database !== database) prepared = { database, statement: database.prepare(sql) };
      return prepared.statement;
    };
    recovering(find);
    return {
      all: (...values: StatementValues) => recovering((): unknown[] => find().all(...values)),
      get: (...values: StatementValues) => recovering((): unknown => find().get(...values)),
      run: (...values: StatementValues) => recovering(() => find().run(...values)),
    };
  }

  function transaction(change: () => void): void {
    const { database } = connection;
    database.exec('BEGIN IMMEDIATE');
    isInTransaction = true;
    try {
      change();
      database.exec('COMMIT');
    } catch (error) {
      // On a full disk SQLite has already rolled back.
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    } finally {
      isInTransaction = false;
    }
  }

  return {
    isNew: connection.isNew,
    prepare,
    transaction: (change) => recovering(() => transaction(change)),
    onReplaced: (listener) => void listeners.push(listener),
    close: () => connection.database.close(),
  };
}

const MEMORY = ':memory:';

interface Connection {
  readonly database: DatabaseSyncInstance;
  readonly isNew: boolean;
  /** Identifies the opened file, whatever its path refers to later. */
  readonly inode: number | undefined;
}

function openOrReplace(file: string, onDamage: () => void): Connection {
  try {
    return openFile(file);
  } catch (error) {
    if (!isDamage(error) || file === MEMORY) throw error;
    moveDamagedAside(file);
    onDamage();
    return openFile(file);
  }
}

function openFile(file: string): Connection {
  makeDatabasePrivate(file);
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    createTables(database);
    deleteOutdatedMetadata(database);
    return { database, isNew: claimFileRecording(database), inode: inodeOf(file) };
  } catch (error) {
    database.close();
    throw error;
  }
}

const inodeOf = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.ino;

function createTables(database: DatabaseSyncInstance): void {
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA recursive_triggers = ON');
  database.exec(`
    CREATE TABLE IF NOT EXISTS settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS metadata (picture TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS stored (
      share TEXT, key TEXT, bytes INTEGER NOT NULL, used INTEGER NOT NULL, value TEXT, PRIMARY KEY (share, key)
    );
    CREATE INDEX IF NOT EXISTS stored_by_use ON stored (share, used);
    CREATE TABLE IF NOT EXISTS stored_bytes (share TEXT PRIMARY KEY, bytes INTEGER NOT NULL) WITHOUT ROWID;
    INSERT OR IGNORE INTO stored_bytes VALUES ('files', 0), ('values', 0);
    CREATE TRIGGER IF NOT EXISTS stored_inserted AFTER INSERT ON stored BEGIN
      UPDATE stored_bytes SET bytes = bytes + new.bytes WHERE share = new.share;
    END;
    CREATE TRIGGER IF NOT EXISTS stored_deleted AFTER DELETE ON stored BEGIN
      UPDATE stored_bytes SET bytes = bytes - old.bytes WHERE share = old.share;
    END;
    DROP TABLE IF EXISTS recipes;
    DROP TABLE IF EXISTS links;
    DROP TABLE IF EXISTS inline;
    DROP TABLE IF EXISTS trims;
  `);
}

/** Ignores that a value can't be stored, as on a full disk. It is derived again when it is needed again. */
export function ignoreStorageFault(error: unknown): void {
  if (findStorageFault(error) === undefined) throw error;
}

function deleteOutdatedMetadata(database: DatabaseSyncInstance): void {
  const stored = database.prepare(`SELECT value FROM settings WHERE key = 'metadata'`).get() as
    { value: string } | undefined;
  if (stored?.value === String(METADATA_VERSION)) return;
  database.exec(`DELETE FROM metadata; DELETE FROM stored WHERE share = 'values'`);
  database.prepare(`INSERT OR REPLACE INTO settings VALUES ('metadata', ?)`).run(String(METADATA_VERSION));
}

/** Returns true once per database: for the process that has to record the existing files of the state folder. */
const claimFileRecording = (database: DatabaseSyncInstance): boolean =>
  database.prepare(`INSERT OR IGNORE INTO settings VALUES ('files', 'recorded')`).run().changes > 0;

/** The two shares of the quota: files in folders, and values that are rows of the database. */
type QuotaShare = 'files' | 'values';

/**
 * The entries of one share, evicted in the order of their last use. Several processes may use the same database;
 * together they stay within the share.
 */
export interface Quota {
  readonly maxBytes: number;
  /** How many entries this process has evicted. */
  readonly evicted: number;
  /**
   * Records an entry and evicts the least recently used ones until all fit. Resolves when there is room, so the caller
   * creates the entry's file after that.
   */
  put(key: string, bytes: number, value?: string): Promise<void>;
  /** Returns the value of an entry and records a use. */
  find(key: string): string | undefined;
  /** Records a use in memory; uses are written to the database in batches. */
  touch(key: string): void;
  remove(key: string): void;
  has(key: string): boolean;
  /** Returns the total size of all entries. */
  usedBytes(): number;
  /** Writes the recorded uses and stops the timer. */
  close(): void;
}

interface QuotaOptions {
  readonly share: QuotaShare;
  readonly maxBytes: number;
  /** Deletes the file of an entry. Runs inside a transaction, so it must be synchronous. */
  readonly onEvict?: (key: string) => void;
}

/** The size of a row in the table and its indexes, without its value. */
const ROW_BYTES = 256;

/** The limit of evictions per transaction, which blocks other processes and the event loop of this one. */
const MAX_EVICTED = 64;

/** The interval at which recorded uses are written. */
const FLUSH_MS = 10_000;

/** The limit of uses per write, which takes about 10 ms. Further uses in the same interval are not recorded. */
const MAX_TOUCHED = 2_000;

/** A use within this time of the last written one is not written. */
const USE_MS = 60_000;

export function openQuota(database: ImageDatabase, { share, maxBytes, onEvict }: QuotaOptions): Quota {
  const insert = database.prepare('INSERT OR REPLACE INTO stored VALUES (?, ?, ?, ?, ?)');
  const select = database.prepare('SELECT value FROM stored WHERE share = ? AND key = ?');
  const update = database.prepare('UPDATE stored SET used = ? WHERE share = ? AND key = ? AND used < ?');
  const remove = database.prepare('DELETE FROM stored WHERE share = ? AND key = ?');
  const sum = database.prepare('SELECT bytes FROM stored_bytes WHERE share = ?');
  const oldest = database.prepare('SELECT key, bytes FROM stored WHERE share = ? AND key <> ? ORDER BY used LIMIT ?');
  const touched = new Set<string>();
  const timer = setInterval(tryToFlush, FLUSH_MS).unref();
  let evicted = 0;

  const usedBytes = (): number => (sum.get(share) as { bytes: number } | undefined)?.bytes ?? 0;

  function touch(key: string): void {
    if (touched.size < MAX_TOUCHED) touched.add(key);
  }

  function flush(): void {
    if (touched.size === 0) return;
    const now = Date.now();
    database.transaction(() => {
      for (const key of touched) update.run(now, share, key, now - USE_MS);
    });
    touched.clear();
  }

  /** The order of evictions is less exact without the uses that can't be written. */
  function tryToFlush(): void {
    try {
      flush();
    } catch (error) {
      ignoreStorageFault(error);
    }
  }

  /** Deletes each file before its row. A crash in between leaves a row without a file, which is harmless. */
  function evictSome(except: string): void {
    let excess = usedBytes() - maxBytes;
    const rows = excess > 0 ? (oldest.all(share, except, MAX_EVICTED) as { key: string; bytes: number }[]) : [];
    for (const { key, bytes } of rows) {
      if (excess <= 0) return;
      onEvict?.(key);
      remove.run(share, key);
      evicted += 1;
      excess -= bytes;
    }
  }

  return {
    maxBytes,
    get evicted() {
      return evicted;
    },
    usedBytes,
    async put(key, bytes, value) {
      database.transaction(() => insert.run(share, key, bytes + ROW_BYTES, Date.now(), value ?? null));
      if (usedBytes() > maxBytes) flush();
      for (let before = Infinity, now = usedBytes(); now > maxBytes && now < before; before = now, now = usedBytes()) {
        database.transaction(() => evictSome(key));
        await setImmediate();
      }
    },
    find(key) {
      const row = select.get(share, key) as { value: string | null } | undefined;
      if (row) touch(key);
      return row?.value ?? undefined;
    },
    touch,
    remove: (key) => void remove.run(share, key),
    has: (key) => select.get(share, key) !== undefined,
    close() {
      clearInterval(timer);
      tryToFlush();
    },
  };
}
