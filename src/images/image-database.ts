import { DatabaseSync } from '@photostructure/sqlite';
import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite';
import { makeDatabasePrivate } from '../storage/private-file.js';

/** What is known of pictures, and the links that were handed out. */
export interface ImageDatabase {
  prepare(sql: string): StatementSyncInstance;
  exec(sql: string): void;
  close(): void;
}

/** Raised when what is read from a header, or its form here, changes: it is then read again. */
const METADATA_VERSION = 2;

/** How long one connection waits for another's write: a command may run beside the server. */
const BUSY_TIMEOUT_MS = 5_000;

/**
 * Opens the file, or `:memory:`. The links in it must be there after the
 * process was killed, but all that a power cut may cost is asking again.
 */
export function openImageDatabase(file: string): ImageDatabase {
  makeDatabasePrivate(file);
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
  database.exec(`
    CREATE TABLE IF NOT EXISTS settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS metadata (picture TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS trims (
      picture TEXT, amount TEXT, value TEXT NOT NULL, PRIMARY KEY (picture, amount)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS recipes (recipe TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS links (picture TEXT, recipe TEXT, PRIMARY KEY (picture, recipe)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS inline (
      picture TEXT, recipe TEXT, value TEXT NOT NULL, PRIMARY KEY (picture, recipe)
    ) WITHOUT ROWID;
  `);
  forgetOldMetadata(database);
  return {
    // A statement doesn't keep its database from being collected, and fails, or worse, when that is.
    prepare: (sql) => Object.assign(database.prepare(sql), { database }),
    exec: (sql) => database.exec(sql),
    close: () => database.close(),
  };
}

function forgetOldMetadata(database: DatabaseSyncInstance): void {
  const stored = database.prepare(`SELECT value FROM settings WHERE key = 'metadata'`).get() as
    { value: string } | undefined;
  if (stored?.value === String(METADATA_VERSION)) return;
  database.exec(`DELETE FROM metadata; DELETE FROM trims`);
  database.prepare(`INSERT OR REPLACE INTO settings VALUES ('metadata', ?)`).run(String(METADATA_VERSION));
}
