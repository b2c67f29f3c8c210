import { setTimeout } from 'node:timers/promises';
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import { createIndexes } from '../record-schema.js';
import type { RecordTables } from '../record-schema.js';

export interface IndexedDatabase {
  readonly database: DatabaseSyncInstance;
  readonly tables: RecordTables;
}

/** Creating an index on 100,000 records blocks the thread for about 60 ms; waiting requests run before the next one. */
const REST_MS = 60;

/**
 * Creates the indexes that a bulk load left out, one at a time, until all exist or the signal aborts. Queries work
 * without them, and not waiting for them lets a site start a third sooner. If the process ends first, the next one
 * creates the remaining indexes.
 */
export async function createMissingIndexes(indexed: IndexedDatabase, signal: AbortSignal): Promise<void> {
  // Yields first, because the caller still has to complete its own startup.
  await setTimeout(REST_MS, undefined, { ref: false });
  while (!signal.aborted) {
    const missing = findMissing(indexed);
    if (missing === undefined) return;
    indexed.database.exec(missing);
    await setTimeout(REST_MS, undefined, { ref: false });
  }
}

/** Returns the statement that creates the first missing index. */
function findMissing({ database, tables }: IndexedDatabase): string | undefined {
  const rows = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'index'`).all() as { name: string }[];
  const there = new Set(rows.map(({ name }) => name));
  return [...createIndexes(tables)].find(([name]) => !there.has(name))?.[1];
}
