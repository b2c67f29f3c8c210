import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { makeDatabasePrivate } from '@trellis/core/private-file';
import type { StatementWatch } from '@trellis/core/slow-statements';
import { isDamage } from '@trellis/core/storage-faults';
import { PatternCache } from './patterns/pattern-cache.js';
import { firstRowStatement } from './query/compile-query.js';
import { withComputedValues } from './query/computed-values.js';
import { QueryConnection } from './query/connection.js';
import { Engine, type EngineOptions } from './query/engine.js';
import type { RecordQueries } from './query/record-queries.js';
import { defineFunctions, type FunctionState } from './query/sql-functions.js';
import {
  bulkLoad,
  type BulkLoadOptions,
  createMissingIndexes,
  discardPartialLoad,
  DURABILITY_PRAGMAS,
  IdIndexes,
} from './records/bulk-load.js';
import {
  addDerivedColumns,
  createIndexes,
  createTables,
  type RecordSchema,
  schemaDigest,
  storedColumns,
  type TableColumn,
} from './records/record-schema.js';
import { RecordWriter } from './records/record-writer.js';
import { quoteIdentifier, type SqlValue, Statements } from './records/sql.js';

/** Stores the records of a site, which are derived data, in one table per record type. */
export interface RecordStore extends RecordQueries {
  /** Runs `change` in one transaction. An error that it throws rolls the transaction back. */
  write<T>(change: (writer: RecordWriter) => T): T;
  /**
   * Runs work that writes many records. In an empty store, the writes are several times faster, but a crash, unlike an
   * error, loses all of them. Queries are slow afterwards until the indexes are created.
   */
  bulkLoad<T>(work: () => Promise<T>): Promise<T>;
  /** Creates the indexes that a bulk load left out, one at a time. Stops when the store is closed. */
  createMissingIndexes(): Promise<void>;
  /** Iterates over the rows of a record type in creation order, optionally within a range of positions. */
  rows(kind: string, columns: readonly string[], within?: PositionRange): Iterable<Record<string, SqlValue>>;
  /** Returns the named columns of the record at a position, if there is one. */
  at(kind: string, columns: readonly string[], position: number): Record<string, SqlValue> | undefined;
  /** Returns the named columns of the first record with these values, if there is one. */
  first(
    kind: string,
    columns: readonly string[],
    values: Readonly<Record<string, SqlValue>>,
  ): Record<string, SqlValue> | undefined;
  meta(key: string): string | undefined;
  /** Increases with each write, so that results of the same generation can be reused. */
  readonly generation: number;
  /** The time of the last write of this process, in milliseconds; `undefined` before the first one. */
  readonly changedAt: number | undefined;
  /** Returns the number of records of each type. */
  countRecords(): Readonly<Record<string, number>>;
  close(): void;
}

export interface PositionRange {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

export interface RecordStoreOptions extends RecordSchema {
  /** A path, or `:memory:`. */
  readonly file: string;
  /** Receives slow statements of queries. */
  readonly watch?: StatementWatch;
  /** Called with the error of a query or write that finds the file damaged. */
  readonly onDamage?: (error: unknown) => void;
}

/** Opens the records of a site. A file with a different schema is emptied, because its records can be derived again. */
export function openRecordStore(options: RecordStoreOptions): RecordStore {
  discardPartialLoad(options.file);
  makeDatabasePrivate(options.file);
  const database = new DatabaseSync(options.file);
  try {
    return open(database, options);
  } catch (error) {
    database.close();
    throw error;
  }
}

function open(database: DatabaseSyncInstance, { file, watch, onDamage, ...schema }: RecordStoreOptions): RecordStore {
  // The rows are wide, so larger pages than the default make reading and writing faster.
  database.exec(
    `PRAGMA page_size = 16384; ${DURABILITY_PRAGMAS}; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32000`,
  );
  const functions: FunctionState = { patterns: new PatternCache() };
  defineFunctions(database, functions);
  prepareTables(database, schema);
  return new SqliteRecordStore({ database, file, ...schema }, { functions, watch, onDamage });
}

function prepareTables(database: DatabaseSyncInstance, schema: RecordSchema): void {
  const digest = schemaDigest(schema);
  database.exec('CREATE TABLE IF NOT EXISTS "~meta" (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID');
  const stored = database.prepare(`SELECT value FROM "~meta" WHERE key = '~schema'`).get() as
    { value: string } | undefined;
  if (stored?.value === digest) return;
  const old = database
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'`)
    .all();
  const drops = (old as { name: string }[])
    .filter(({ name }) => name !== '~meta')
    .map(({ name }) => `DROP TABLE ${quoteIdentifier(name)}`);
  database.exec(
    [
      'BEGIN',
      ...drops,
      'DELETE FROM "~meta"',
      ...createTables(schema),
      ...addDerivedColumns(schema),
      ...createIndexes(schema.tables).values(),
      'COMMIT',
    ].join(';\n'),
  );
  database.prepare(`INSERT INTO "~meta" VALUES ('~schema', ?)`).run(digest);
}

class SqliteRecordStore implements RecordStore {
  readonly #opened: BulkLoadOptions;
  readonly #onDamage: RecordStoreOptions['onDamage'];
  readonly #statements: Statements;
  readonly #engine: Engine;
  readonly #astral: NonBmpColumns;
  readonly #ids: IdIndexes;
  readonly #closing = new AbortController();
  #generation = 0;
  #changedAt: number | undefined;
  #counts: { readonly generation: number; readonly byKind: Readonly<Record<string, number>> } | undefined;

  constructor(
    opened: BulkLoadOptions,
    { functions, watch, onDamage }: Pick<EngineOptions, 'functions' | 'watch'> & Pick<RecordStoreOptions, 'onDamage'>,
  ) {
    const { database, tables } = opened;
    this.#opened = opened;
    this.#onDamage = onDamage;
    this.#statements = new Statements(database, onDamage);
    this.#astral = new NonBmpColumns(this.meta('~astral'));
    this.#ids = new IdIndexes(opened);
    const isAstral = (kind: string, column: string): boolean => this.#isAstral(kind, column);
    this.#engine = new Engine({
      statements: this.#statements,
      shared: { tables, patterns: functions.patterns, isAstral },
      functions,
      watch,
      generation: () => this.#generation,
    });
  }

  get generation(): number {
    return this.#generation;
  }

  get changedAt(): number | undefined {
    return this.#changedAt;
  }

  countRecords(): Readonly<Record<string, number>> {
    if (this.#counts?.generation === this.#generation) return this.#counts.byKind;
    const countKind = (kind: string): number =>
      Number(this.#statements.get(`SELECT count(*) FROM ${quoteIdentifier(kind)}`)?.[0]);
    const byKind = Object.fromEntries(Object.keys(this.#opened.tables).map((kind) => [kind, countKind(kind)]));
    this.#counts = { generation: this.#generation, byKind };
    return byKind;
  }

  write<T>(change: (writer: RecordWriter) => T): T {
    const { database } = this.#opened;
    const writer = new RecordWriter({
      statements: this.#statements,
      columns: this.#columns(),
      ids: this.#ids,
      onNonBmp: (kind, column) => this.#astral.add(kind, column),
    });
    let isCommitted = false;
    database.exec('BEGIN IMMEDIATE');
    try {
      const result = change(writer);
      if (this.#astral.changed) writer.setMeta('~astral', this.#astral.toText());
      database.exec('COMMIT');
      isCommitted = true;
      return result;
    } catch (error) {
      // On a full disk SQLite has already rolled back.
      if (database.isTransaction) database.exec('ROLLBACK');
      if (isDamage(error)) this.#onDamage?.(error);
      throw error;
    } finally {
      this.#ids.endTransaction({ isKept: isCommitted });
      this.#generation += 1;
      this.#changedAt = Date.now();
    }
  }

  async bulkLoad<T>(work: () => Promise<T>): Promise<T> {
    const kinds = Object.keys(this.#opened.tables);
    const isEmpty = kinds.every((kind) => !this.#statements.get(`SELECT 1 FROM ${quoteIdentifier(kind)} LIMIT 1`));
    if (!isEmpty) return work();
    try {
      return await bulkLoad(this.#opened, work);
    } finally {
      this.#ids.findMissing();
    }
  }

  createMissingIndexes(): Promise<void> {
    return createMissingIndexes(this.#opened, this.#closing.signal);
  }

  *rows(kind: string, columns: readonly string[], within?: PositionRange): Generator<Record<string, SqlValue>> {
    const names = ['position', ...columns];
    const range = within ? 'WHERE position >= ? AND position < ?' : '';
    const text = `SELECT ${names.map(quoteIdentifier).join(', ')} FROM ${quoteIdentifier(kind)} ${range} ORDER BY position`;
    for (const row of this.#statements.iterate(text, within ? [within.from, within.to] : [])) {
      yield Object.fromEntries(names.map((name, index) => [name, row[index] ?? null]));
    }
  }

  at(kind: string, columns: readonly string[], position: number): Record<string, SqlValue> | undefined {
    const text = `SELECT ${columns.map(quoteIdentifier).join(', ')} FROM ${quoteIdentifier(kind)} WHERE position = ?`;
    return toNamed(columns, this.#statements.get(text, [position]));
  }

  first(
    kind: string,
    columns: readonly string[],
    values: Readonly<Record<string, SqlValue>>,
  ): Record<string, SqlValue> | undefined {
    const statement = firstRowStatement({ kind, columns, values }, this.#engine.advisor);
    return toNamed(columns, this.#statements.get(statement.text, statement.values));
  }

  meta(key: string): string | undefined {
    return this.#statements.get('SELECT value FROM "~meta" WHERE key = ?', [key])?.[0] as string | undefined;
  }

  withComputedValues: RecordQueries['withComputedValues'] = withComputedValues;

  find: RecordQueries['find'] = (kind, query, selection) =>
    new QueryConnection(this.#engine, kind, { ...query, limit: 1 }, selection).nodes[0];

  page: RecordQueries['page'] = (kind, query, selection) => new QueryConnection(this.#engine, kind, query, selection);

  close(): void {
    this.#closing.abort();
    this.#opened.database.close();
  }

  /** A virtual column may contain text from any stored column. */
  #isAstral(kind: string, column: string): boolean {
    const isDerived = this.#opened.derived?.[kind]?.[column] !== undefined;
    return isDerived ? this.#astral.hasAny(kind) : this.#astral.has(kind, column);
  }

  #columns(): ReadonlyMap<string, readonly TableColumn[]> {
    const { tables } = this.#opened;
    return new Map(Object.values(tables).map((table) => [table.kind, storedColumns(this.#opened, table)]));
  }
}

function toNamed(
  columns: readonly string[],
  row: readonly SqlValue[] | undefined,
): Record<string, SqlValue> | undefined {
  return row && Object.fromEntries(columns.map((name, index) => [name, row[index] ?? null]));
}

/** The columns that contain, or once contained, text with characters beyond U+FFFF. */
class NonBmpColumns {
  readonly #columns: Set<string>;
  #changed = false;

  constructor(stored: string | undefined) {
    this.#columns = new Set(stored === undefined ? [] : (JSON.parse(stored) as string[]));
  }

  has(kind: string, column: string): boolean {
    return this.#columns.has(`${kind} ${column}`);
  }

  hasAny(kind: string): boolean {
    return [...this.#columns].some((key) => key.startsWith(`${kind} `));
  }

  add(kind: string, column: string): void {
    const key = `${kind} ${column}`;
    if (this.#columns.has(key)) return;
    this.#columns.add(key);
    this.#changed = true;
  }

  /** Whether columns were added since the set was last stored. */
  get changed(): boolean {
    return this.#changed;
  }

  toText(): string {
    this.#changed = false;
    return JSON.stringify([...this.#columns]);
  }
}
