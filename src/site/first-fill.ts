import { existsSync, rmSync, writeFileSync } from 'node:fs';
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import type { Indexed } from './missing-indexes.js';
import { addDerivedColumns, createTables } from './record-schema.js';
import type { RecordSchema } from './record-schema.js';
import { quote } from './sql.js';

/** How a database is kept while it is used: a crash may lose the last records, but can't mix old and new ones. */
export const KEEPING = 'PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF';

/** Writes everything once, and undoes what fails, but a crash leaves something that is no database. */
const FILLING = 'PRAGMA journal_mode = MEMORY';

const SQLITE_BUSY = 5;

/** Lies beside a database while it is filled for the first time, so that what a crash leaves is known by it. */
const markOf = (file: string): string => `${file}.filling`;

/** Removes a database whose first filling was not finished. */
export function discardUnfinished(file: string): void {
  if (!existsSync(markOf(file))) return;
  for (const ending of ['', '-wal', '-shm']) rmSync(file + ending, { force: true });
  rmSync(markOf(file));
}

export interface FillOptions extends Indexed, RecordSchema {
  readonly file: string;
}

/**
 * Runs work that writes most records of an empty database, with as little as
 * possible to do for each: no record is written twice, and no index and no
 * derived column is kept meanwhile. Indexes only make questions cheaper and are
 * left to {@link makeMissingIndexes}, or to the next change, which needs those
 * of ids.
 */
export async function fillDatabase<T>({ database, file, ...schema }: FillOptions, work: () => Promise<T>): Promise<T> {
  if (!canLeaveJournal(database)) return work();
  const drops = Object.keys(schema.tables).map((kind) => `DROP TABLE ${quote(kind)}`);
  if (file !== ':memory:') writeFileSync(markOf(file), '');
  database.exec(['BEGIN', ...drops, ...createTables(schema), 'COMMIT'].join(';\n'));
  try {
    return await work();
  } finally {
    database.exec(['BEGIN', ...addDerivedColumns(schema), 'COMMIT', KEEPING].join(';\n'));
    rmSync(markOf(file), { force: true });
  }
}

/** Not while another connection has the file open, which reads only what the journal has kept for it. */
function canLeaveJournal(database: DatabaseSyncInstance): boolean {
  try {
    database.exec(FILLING);
    return true;
  } catch (error) {
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return false;
    throw error;
  }
}
