import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import { ChangedRecords } from '../record-changes.js';
import {
  addDerivedColumns,
  createIndexes,
  createSearchIndexes,
  createTables,
  type RecordSchema,
  type RecordTables,
  type TableColumn,
} from './record-schema.js';
import { hasNonBmp, quoteIdentifier, type SqlValue, type Statements } from './sql.js';

type Row = Readonly<Record<string, SqlValue>>;

/** A statement and its columns after `position`, in order. */
interface Insert {
  readonly columns: readonly string[];
  readonly text: string;
}

interface Runner {
  readonly columns: readonly string[];
  readonly idIndex: number;
  readonly run: (values: readonly SqlValue[]) => void;
}

interface RecordWriterOptions {
  readonly statements: Statements;
  /** The stored columns of each record type. */
  readonly columns: ReadonlyMap<string, readonly TableColumn[]>;
  readonly ids: Pick<IdIndexes, 'ensure'>;
  /** Called with each column that is written with characters beyond U+FFFF. */
  readonly onNonBmp: (kind: string, column: string) => void;
  /** Called with the position of each written record of type `File`. */
  readonly onFile?: (position: number) => void;
}

/** Changes records inside one transaction. */
export class RecordWriter {
  readonly #statements: Statements;
  readonly #columns: ReadonlyMap<string, readonly TableColumn[]>;
  readonly #ids: RecordWriterOptions['ids'];
  readonly #onNonBmp: RecordWriterOptions['onNonBmp'];
  readonly #onFile: RecordWriterOptions['onFile'];
  /**
   * The insert of each record type for rows with the columns of its first row. Rows with few columns are written faster
   * without binding nulls for the others.
   */
  readonly #usual = new Map<string, Insert>();
  /** The runner of each record type for its latest list of columns. */
  readonly #runners = new Map<string, Runner>();
  /** The records that were put or removed. */
  readonly changed = new ChangedRecords();

  constructor({ statements, columns, ids, onNonBmp, onFile }: RecordWriterOptions) {
    this.#statements = statements;
    this.#columns = columns;
    this.#ids = ids;
    this.#onNonBmp = onNonBmp;
    this.#onFile = onFile;
  }

  /**
   * Inserts or replaces the record with the id of the row. `row` maps columns to values; absent columns are null.
   * `position` defines the creation order. Rows with the same columns in the same order are written fastest.
   *
   * @throws Error for an unknown column; TypeError for a value other than text, a number or null.
   */
  put(kind: string, row: Row, position: number): void {
    this.#ids.ensure(kind);
    this.changed.add(kind, String(row.id));
    if (kind === 'File') this.#onFile?.(position);
    const usual = this.#usual.get(kind) ?? this.#noteUsual(kind, row);
    if (hasColumns(row, usual.columns)) {
      const values = this.#check(kind, usual.columns, Object.values(row));
      this.#statements.run(usual.text, [position, ...values]);
    } else {
      this.#putAny(kind, row, position);
    }
  }

  /**
   * Inserts or replaces a record, given as the values of `columns` in their order. This is the fastest way to write
   * many records, provided that `columns` is the same object each time.
   *
   * @throws Error for an unknown column; TypeError for a value other than text, a number or null.
   */
  insert(kind: string, columns: readonly string[], values: readonly SqlValue[], position: number): void {
    let runner = this.#runners.get(kind);
    if (runner?.columns !== columns) {
      this.#requireColumns(kind, columns);
      this.#ids.ensure(kind);
      runner = {
        columns,
        idIndex: columns.indexOf('id'),
        run: this.#statements.runner(toInsert(kind, columns).text),
      };
      this.#runners.set(kind, runner);
    }
    this.#look(kind, columns, values);
    this.changed.add(kind, String(values[runner.idIndex]));
    if (kind === 'File') this.#onFile?.(position);
    runner.run([position, ...values]);
  }

  remove(kind: string, id: string): void {
    this.#ids.ensure(kind);
    this.changed.add(kind, id);
    this.#statements.run(`DELETE FROM ${quoteIdentifier(kind)} WHERE id = ?`, [id]);
  }

  setMeta(key: string, value: string): void {
    this.#statements.run('INSERT OR REPLACE INTO "~meta" (key, value) VALUES (?, ?)', [key, value]);
  }

  #noteUsual(kind: string, row: Row): Insert {
    const insert = toInsert(kind, this.#knownColumns(kind, row));
    this.#usual.set(kind, insert);
    return insert;
  }

  #putAny(kind: string, row: Row, position: number): void {
    this.#knownColumns(kind, row);
    const { columns, text } = toInsert(kind, this.#columnsOf(kind));
    const values = this.#check(
      kind,
      columns,
      columns.map((column) => row[column]),
    );
    this.#statements.run(text, [position, ...values]);
  }

  #knownColumns(kind: string, row: Row): string[] {
    const names = Object.keys(row).filter((name) => name !== 'position');
    this.#requireColumns(
      kind,
      names.filter((name) => row[name] !== undefined),
    );
    return names;
  }

  #requireColumns(kind: string, names: readonly string[]): void {
    const known = this.#columnsOf(kind);
    const unknown = names.filter((name) => !known.includes(name));
    if (unknown.length > 0) throw new Error(`${kind} has no column ${unknown.join(', ')}.`);
  }

  #columnsOf(kind: string): string[] {
    const columns = this.#columns.get(kind);
    if (!columns) throw new Error(`Unknown record type ${kind}.`);
    return columns.map(({ name }) => name);
  }

  /** Returns the values with null for absent ones. */
  #check(kind: string, columns: readonly string[], values: readonly (SqlValue | undefined)[]): SqlValue[] {
    const checked = values.map((value) => value ?? null);
    this.#look(kind, columns, checked);
    return checked;
  }

  #look(kind: string, columns: readonly string[], values: readonly SqlValue[]): void {
    let text = '';
    for (const [index, value] of values.entries()) {
      if (typeof value === 'string') text += value;
      else if (value !== null && typeof value !== 'number') throwTypeError(kind, columns[index], value);
    }
    // One test of the concatenated text is several times faster, and very few records have such characters.
    if (hasNonBmp(text)) this.#noteAstral(kind, columns, values);
  }

  #noteAstral(kind: string, columns: readonly string[], values: readonly SqlValue[]): void {
    for (const [index, column] of columns.entries()) {
      const value = values[index];
      if (typeof value === 'string' && hasNonBmp(value)) this.#onNonBmp(kind, column);
    }
  }
}

function throwTypeError(kind: string, column = '', value: never): never {
  throw new TypeError(`Expected text, a number or null in ${kind}.${column}; received ${typeof value}.`);
}

function toInsert(kind: string, columns: readonly string[]): Insert {
  const names = ['position', ...columns];
  const text = `INSERT OR REPLACE INTO ${quoteIdentifier(kind)} (${names.map(quoteIdentifier).join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
  return { columns, text };
}

function hasColumns(row: Row, columns: readonly string[]): boolean {
  let count = 0;
  for (const column in row) if (column !== columns[count++]) return false;
  return count === columns.length;
}

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

/** The caller still has to complete its own startup. */
const START_MS = 60;

/**
 * Creating an index on 100,000 records blocks the thread for about 60 ms. Waiting requests run before the next one, for this
 * multiple of the time.
 */
const REST_FACTOR = 2;

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
  await setTimeout(START_MS, undefined, { ref: false });
  while (!signal.aborted) {
    const missing = findMissing(indexed);
    if (missing === undefined) return;
    const startedAt = performance.now();
    indexed.database.exec(missing);
    onCreated?.();
    await setTimeout((performance.now() - startedAt) * REST_FACTOR, undefined, { ref: false });
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
