import { DatabaseSync } from '@photostructure/sqlite';
import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite';
import { makeDatabasePrivate } from '../storage/private-file.js';

/** What is known of pictures, and which derived files and values are stored. */
export interface ImageDatabase {
  prepare(sql: string): StatementSyncInstance;
  /** Whether files that are stored already may be unknown to this database. */
  readonly isNew: boolean;
  /** Takes the write lock first, so that another process is waited for. */
  transaction(change: () => void): void;
  close(): void;
}

/** Raised when what is read from a header, or its form here, changes: it is then read again. */
const METADATA_VERSION = 2;

/** How long one connection waits for another's write: a command may run beside the server. */
const BUSY_TIMEOUT_MS = 5_000;

/** Opens the file, or `:memory:`. A power cut may lose the last changes, all of which can be derived again. */
export function openImageDatabase(file: string): ImageDatabase {
  makeDatabasePrivate(file);
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
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
  forgetOldMetadata(database);
  return {
    isNew: isFirst(database),
    // A statement doesn't keep its database from being collected, and fails, or worse, when that is.
    prepare: (sql) => Object.assign(database.prepare(sql), { database }),
    transaction(change) {
      database.exec('BEGIN IMMEDIATE');
      try {
        change();
        database.exec('COMMIT');
      } catch (error) {
        // A full disk ends the transaction before this.
        if (database.isTransaction) database.exec('ROLLBACK');
        throw error;
      }
    },
    close: () => database.close(),
  };
}

function forgetOldMetadata(database: DatabaseSyncInstance): void {
  const stored = database.prepare(`SELECT value FROM settings WHERE key = 'metadata'`).get() as
    { value: string } | undefined;
  if (stored?.value === String(METADATA_VERSION)) return;
  database.exec(`DELETE FROM metadata; DELETE FROM stored WHERE share = 'values'`);
  database.prepare(`INSERT OR REPLACE INTO settings VALUES ('metadata', ?)`).run(String(METADATA_VERSION));
}

/** Whether no process before this one has recorded the files of the state folder. */
const isFirst = (database: DatabaseSyncInstance): boolean =>
  database.prepare(`INSERT OR IGNORE INTO settings VALUES ('files', 'recorded')`).run().changes > 0;
