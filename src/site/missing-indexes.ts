import { setTimeout } from 'node:timers/promises';
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import { createIndexes } from './record-schema.js';
import type { RecordTables } from './record-schema.js';

export interface Indexed {
  readonly database: DatabaseSyncInstance;
  readonly tables: RecordTables;
}

/** One index of 100,000 records holds the thread for some 60 ms; what came meanwhile is answered before the next. */
const REST_MS = 60;

/**
 * Makes the indexes that a first filling has left out, one at a time, until all
 * are there or the signal says so. Every answer is right without them, and a
 * site can be asked a third sooner than if it waited for them; those that an
 * end of the process left out are made by the next.
 */
export async function makeMissingIndexes(indexed: Indexed, signal: AbortSignal): Promise<void> {
  // Not in the turn of who asks for it, who has other things to get ready.
  await setTimeout(REST_MS, undefined, { ref: false });
  while (!signal.aborted) {
    const missing = findMissing(indexed);
    if (missing === undefined) return;
    indexed.database.exec(missing);
    await setTimeout(REST_MS, undefined, { ref: false });
  }
}

/** The statement that makes the first index that is not there. */
function findMissing({ database, tables }: Indexed): string | undefined {
  const rows = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'index'`).all() as { name: string }[];
  const there = new Set(rows.map(({ name }) => name));
  return [...createIndexes(tables)].find(([name]) => !there.has(name))?.[1];
}
