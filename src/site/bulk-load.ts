import { existsSync, rmSync, writeFileSync } from 'node:fs';
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import type { IndexedDatabase } from './indexes/missing-indexes.js';
import { addDerivedColumns, createTables } from './record-schema.js';
import type { RecordSchema } from './record-schema.js';
import { quoteIdentifier } from './sql.js';

/** Settings of a database in use: a crash may lose the latest records, but can't mix old and new ones. */
export const DURABILITY_PRAGMAS = 'PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF';

/** Writes everything once and can roll back, but a crash leaves a corrupt database. */
const FILLING = 'PRAGMA journal_mode = MEMORY';

const SQLITE_BUSY = 5;

/** Returns the path of the marker that exists during a bulk load, so that the next start detects a crash in it. */
const markerOf = (file: string): string => `${file}.filling`;

/** Deletes a database whose bulk load was interrupted. */
export function discardPartialLoad(file: string): void {
  if (!existsSync(markerOf(file))) return;
  for (const ending of ['', '-wal', '-shm']) rmSync(file + ending, { force: true });
  rmSync(markerOf(file));
}

export interface BulkLoadOptions extends IndexedDatabase, RecordSchema {
  readonly file: string;
}

/**
 * Runs work that writes most records of an empty database, at the lowest cost per record: each record is written once,
 * and indexes and derived columns are absent meanwhile. Derived columns are added at the end. Indexes only speed up
 * queries and are left to {@link makeMissingIndexes}; the next change creates the id indexes that it needs.
 */
export async function bulkLoad<T>({ database, file, ...schema }: BulkLoadOptions, work: () => Promise<T>): Promise<T> {
  if (!canLeaveJournal(database)) return work();
  const drops = Object.keys(schema.tables).map((kind) => `DROP TABLE ${quoteIdentifier(kind)}`);
  if (file !== ':memory:') writeFileSync(markerOf(file), '');
  database.exec(['BEGIN', ...drops, ...createTables(schema), 'COMMIT'].join(';\n'));
  try {
    return await work();
  } finally {
    database.exec(['BEGIN', ...addDerivedColumns(schema), 'COMMIT', DURABILITY_PRAGMAS].join(';\n'));
    rmSync(markerOf(file), { force: true });
  }
}

/** Switches the journal mode, which fails while another connection has the file open and reads from its journal. */
function canLeaveJournal(database: DatabaseSyncInstance): boolean {
  try {
    database.exec(FILLING);
    return true;
  } catch (error) {
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return false;
    throw error;
  }
}
