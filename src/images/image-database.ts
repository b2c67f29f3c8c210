import { DatabaseSync } from '@photostructure/sqlite';
import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite';
import { makeDatabasePrivate } from '../core/private-file.js';

/** The database `images.db`: image metadata, and the files and values that the quota counts. */
export interface ImageDatabase {
  prepare(sql: string): StatementSyncInstance;
  /** Whether the database may lack files that are already on the disk. */
  readonly isNew: boolean;
  /** Acquires the write lock before `change` runs, waiting for other processes if necessary. */
  transaction(change: () => void): void;
  close(): void;
}

/** Increase when the stored metadata changes in content or form. All headers are then read again. */
const METADATA_VERSION = 2;

/** How long a write waits for other processes, as commands may run beside the server. */
const BUSY_TIMEOUT_MS = 5_000;

/** Opens the file, or `:memory:`. A power failure may lose the latest changes, all of which can be derived again. */
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
  deleteOutdatedMetadata(database);
  return {
    isNew: claimFileRecording(database),
    // A statement does not keep its database alive. Using it after the database was collected fails or crashes.
    prepare: (sql) => Object.assign(database.prepare(sql), { database }),
    transaction(change) {
      database.exec('BEGIN IMMEDIATE');
      try {
        change();
        database.exec('COMMIT');
      } catch (error) {
        // On a full disk SQLite has already rolled back.
        if (database.isTransaction) database.exec('ROLLBACK');
        throw error;
      }
    },
    close: () => database.close(),
  };
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
