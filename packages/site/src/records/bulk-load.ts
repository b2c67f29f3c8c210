import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import {
  addDerivedColumns,
  createIndexes,
  createTables,
  type RecordSchema,
  type RecordTables,
} from './record-schema.js';
import { createSearchIndexes } from './search-index.js';
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
    const searches = createSearchIndexes(Object.values(schema.tables));
    database.exec(['BEGIN', ...addDerivedColumns(schema), ...searches, 'COMMIT', DURABILITY_PRAGMAS].join(';\n'));
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

interface IndexedDatabase {
  readonly database: DatabaseSyncInstance;
  readonly tables: RecordTables;
}

/** Creating an index on 100,000 records blocks the thread for about 60 ms; waiting requests run before the next one. */
const REST_MS = 60;

/**
 * Creates the indexes that a bulk load left out, one at a time, until all exist or the signal aborts. Queries work
 * without them, and not waiting for them lets a site start a third sooner. If the process ends first, the next one
 * creates the remaining indexes.
 *
 * @param onCreated Called after each index.
 */
export async function createMissingIndexes(
  indexed: IndexedDatabase,
  signal: AbortSignal,
  onCreated?: () => void,
): Promise<void> {
  // Yields first, because the caller still has to complete its own startup.
  await setTimeout(REST_MS, undefined, { ref: false });
  while (!signal.aborted) {
    const missing = findMissing(indexed);
    if (missing === undefined) return;
    indexed.database.exec(missing);
    onCreated?.();
    await setTimeout(REST_MS, undefined, { ref: false });
  }
}

/** Returns the statement that creates the first missing index. */
function findMissing({ database, tables }: IndexedDatabase): string | undefined {
  const rows = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'index'`).all() as { name: string }[];
  const there = new Set(rows.map(({ name }) => name));
  return [...createIndexes(tables)].find(([name]) => !there.has(name))?.[1];
}

/**
 * Creates missing indexes of ids, which writes need because a record replaces the record with the same id. A bulk load
 * leaves them out; the first change of a record type creates its index.
 */
export class IdIndexes {
  readonly #indexed: IndexedDatabase;
  /** The record types that had no index at the last check. */
  readonly #missing = new Set<string>();
  readonly #made = new Set<string>();

  constructor(indexed: IndexedDatabase) {
    this.#indexed = indexed;
    this.findMissing();
  }

  /** Checks which indexes are missing. Call it after a bulk load. */
  findMissing(): void {
    for (const kind of Object.keys(this.#indexed.tables)) if (!this.#isThere(kind)) this.#missing.add(kind);
  }

  /** Creates the index of a record type if it is missing. Call it in a transaction, before writing such a record. */
  ensure(kind: string): void {
    if (!this.#missing.has(kind) || this.#made.has(kind)) return;
    const { database, tables } = this.#indexed;
    if (!this.#isThere(kind)) database.exec(createIndexes(tables).get(`${kind}.id`) ?? '');
    this.#made.add(kind);
  }

  /** Call it after a transaction, which either committed its new indexes or rolled them back. */
  endTransaction({ isKept }: { readonly isKept: boolean }): void {
    if (isKept) for (const kind of this.#made) this.#missing.delete(kind);
    this.#made.clear();
  }

  #isThere(kind: string): boolean {
    const find = this.#indexed.database.prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = ?`);
    return find.get(`${kind}.id`) !== undefined;
  }
}
