import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { isDamage, makeDatabasePrivate } from '@trellis/core/storage';
import { PatternCache } from './patterns/patterns.js';
import type { EngineOptions } from './query/engine.js';
import type { IndexKey } from './query/index-advisor.js';
import { defineFunctions, type FunctionState } from './query/sql-functions.js';
import {
  applyChangeset,
  ChangedRecords,
  ChangeRecorder,
  LAST_CHANGE,
  type RecordChange,
  type RecordedChange,
  SEQUENCE,
} from './record-changes.js';
import {
  addDerivedColumns,
  createIndexes,
  createSearchIndexes,
  createTables,
  type RecordSchema,
  schemaDigest,
  storedColumns,
  type TableColumn,
  type ValueLink,
} from './records/record-schema.js';
import {
  bulkLoad,
  type BulkLoadOptions,
  createMissingIndexes,
  discardPartialLoad,
  DURABILITY_PRAGMAS,
  IdIndexes,
  RecordWriter,
} from './records/record-writer.js';
import { quoteIdentifier } from './records/sql.js';
import { REVISION, type SiteRecords, type SiteRecordsOptions, StoredRecords } from './stored-records.js';

/** Stores the records of a site, which are derived data, in one table per record type. */
export interface RecordStore extends SiteRecords {
  /** Runs `change` in one transaction. An error that it throws rolls the transaction back. */
  write<T>(change: (writer: RecordWriter) => T): T;
  /**
   * Runs work that writes many records. In an empty store, the writes are several times faster, but a crash, unlike an
   * error, loses all of them. Queries are slow afterwards until the indexes are created.
   */
  bulkLoad<T>(work: () => Promise<T>): Promise<T>;
  /** Creates the indexes that a bulk load left out, one at a time. Stops when the store is closed. */
  createMissingIndexes(): Promise<void>;
  /** Creates the index of a query shape, which a different process has requested. */
  makeIndex(key: IndexKey): void;
  /** Returns the values of a link that lead to no record, of up to {@link ROWS_AT_ONCE} rows after a position. */
  findUnlinked(link: ValueLink, after: number): UnlinkedValues;
  /**
   * Applies the changes of transactions that were recorded elsewhere, in one transaction.
   *
   * @throws Error if the changes were recorded for different records.
   */
  applyChanges(changesets: readonly Uint8Array[]): void;
}

interface UnlinkedValues {
  readonly values: readonly { readonly value: string; readonly position: number }[];
  /** The position of the last row; `undefined` if there is none after the position. */
  readonly last: number | undefined;
}

/** Takes a few milliseconds. */
const ROWS_AT_ONCE = 2_000;

export interface RecordStoreOptions extends SiteRecordsOptions {
  /** Called when other processes can read a change: of records, which is described, or of an index. */
  readonly onCommit?: (change?: RecordChange) => void;
  /** Receives the changes of each transaction, for copies of the records. */
  readonly onRecorded?: (change: RecordedChange) => void;
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

function open(
  database: DatabaseSyncInstance,
  { file, watch, onDamage, onCommit, onRecorded, ...schema }: RecordStoreOptions,
): RecordStore {
  // The rows are wide, so larger pages than the default make reading and writing faster.
  database.exec(
    `PRAGMA page_size = 16384; ${DURABILITY_PRAGMAS}; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32000; PRAGMA recursive_triggers = ON`,
  );
  const functions: FunctionState = { patterns: new PatternCache() };
  defineFunctions(database, functions);
  prepareTables(database, schema);
  return new SqliteRecordStore({ database, file, ...schema }, { functions, watch, onDamage, onCommit, onRecorded });
}

function prepareTables(database: DatabaseSyncInstance, schema: RecordSchema): void {
  const digest = schemaDigest(schema);
  database.exec('CREATE TABLE IF NOT EXISTS "~meta" (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID');
  const stored = database.prepare(`SELECT value FROM "~meta" WHERE key = '~schema'`).get() as
    { value: string } | undefined;
  if (stored?.value === digest) return;
  const old = database
    .prepare(
      `SELECT name FROM pragma_table_list
        WHERE schema = 'main' AND type IN ('table', 'virtual') AND name NOT LIKE 'sqlite~_%' ESCAPE '~'`,
    )
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
      ...createSearchIndexes(Object.values(schema.tables)),
      'COMMIT',
    ].join(';\n'),
  );
  database.prepare(`INSERT INTO "~meta" VALUES ('~schema', ?)`).run(digest);
}

class SqliteRecordStore extends StoredRecords<BulkLoadOptions> implements RecordStore {
  readonly #onDamage: RecordStoreOptions['onDamage'];
  readonly #onCommit: RecordStoreOptions['onCommit'];
  readonly #recorder: ChangeRecorder | undefined;
  readonly #ids: IdIndexes;
  readonly #closing = new AbortController();

  constructor(
    opened: BulkLoadOptions,
    {
      onCommit,
      onRecorded,
      ...options
    }: Pick<EngineOptions, 'functions'> & Omit<RecordStoreOptions, 'file' | 'tables'>,
  ) {
    super(opened, options);
    this.#onDamage = options.onDamage;
    this.#onCommit = onCommit;
    this.#recorder = onRecorded && new ChangeRecorder(opened.database, opened.tables, onRecorded);
    this.#ids = new IdIndexes(opened);
  }

  write<T>(change: (writer: RecordWriter) => T): T {
    const { database } = this.opened;
    const recorder = this.#recorder;
    const writer = new RecordWriter({
      statements: this.statements,
      columns: this.#columns(),
      ids: this.#ids,
      onNonBmp: (kind, column) => this.nonBmp.add(kind, column),
      onFile: recorder && ((position) => recorder.noteFile(position)),
    });
    let changed: RecordChange | undefined;
    let isCommitted = false;
    const sequence = recorder?.begin();
    database.exec('BEGIN IMMEDIATE');
    try {
      const result = change(writer);
      if (!writer.changed.isEmpty) {
        // The time keeps revisions increasing when the records are made again.
        changed = writer.changed.toChange(Math.max(this.revision + 1, Date.now()));
        writer.setMeta(REVISION, String(changed.revision));
        if (recorder?.isBulk === false) writer.setMeta(LAST_CHANGE, JSON.stringify(changed));
      }
      if (this.nonBmp.changed) writer.setMeta('~astral', this.nonBmp.toText());
      if (sequence !== undefined) writer.setMeta(SEQUENCE, String(sequence));
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
      // Queries within a transaction that was rolled back may have seen any change.
      this.advance(Date.now(), isCommitted ? (changed?.kinds ?? []) : undefined);
      recorder?.end({ isKept: isCommitted });
      if (isCommitted) this.#reportCommit(changed);
    }
  }

  async bulkLoad<T>(work: () => Promise<T>): Promise<T> {
    const kinds = Object.keys(this.opened.tables);
    const isEmpty = kinds.every((kind) => !this.statements.get(`SELECT 1 FROM ${quoteIdentifier(kind)} LIMIT 1`));
    if (!isEmpty) return work();
    try {
      if (this.#recorder) this.#recorder.isBulk = true;
      return await bulkLoad(this.opened, work);
    } finally {
      if (this.#recorder) this.#recorder.isBulk = false;
      this.#ids.findMissing();
    }
  }

  applyChanges(changesets: readonly Uint8Array[]): void {
    const { database } = this.opened;
    const changed = new ChangedRecords();
    let { revision } = this;
    let kinds: readonly string[] | undefined;
    database.exec('BEGIN IMMEDIATE');
    try {
      for (const changeset of changesets) {
        applyChangeset(database, changeset);
        // The last changeset of a transaction contains its facts.
        if (this.revision === revision) continue;
        ({ revision } = this);
        changed.merge(this.#readLastChange());
      }
      database.exec('COMMIT');
      if (!changed.isEmpty) ({ kinds } = changed.toChange(revision));
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    } finally {
      this.advance(Date.now(), kinds);
    }
    this.#reportCommit(changed.isEmpty ? undefined : changed.toChange(revision));
  }

  /** Returns the change that the last transaction has stored, or else one after which clients query everything again. */
  #readLastChange(): RecordChange {
    const { revision } = this;
    const stored = JSON.parse(this.meta(LAST_CHANGE) ?? '{}') as Partial<RecordChange>;
    if (stored.revision === revision) return stored as RecordChange;
    return { revision, kinds: Object.keys(this.opened.tables), ids: [], isTruncated: true };
  }

  findUnlinked({ kind, from, isList, target, to }: ValueLink, after: number): UnlinkedValues {
    const [table, column, linked, key] = [kind, from, target, to].map(quoteIdentifier);
    const some = `SELECT position FROM ${table} WHERE position > ? ORDER BY position LIMIT ${ROWS_AT_ONCE}`;
    const last = this.statements.get(`SELECT max(position) FROM (${some})`, [after])?.[0];
    if (typeof last !== 'number') return { values: [], last: undefined };
    const [source, value] = isList
      ? [`${table} t, json_each(t.${column}) v`, 'v.value']
      : [`${table} t`, `t.${column}`];
    const rows = this.statements.all(
      `SELECT ${value}, t.position FROM ${source} WHERE t.position > ? AND t.position <= ? AND ${value} IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM ${linked} l WHERE l.${key} = ${value}) ORDER BY t.position`,
      [after, last],
    );
    return { values: rows.map(([found, position]) => ({ value: String(found), position: Number(position) })), last };
  }

  async createMissingIndexes(): Promise<void> {
    try {
      await createMissingIndexes(this.opened, this.#closing.signal, () => this.#onCommit?.());
    } catch (error) {
      if (isDamage(error)) this.#onDamage?.(error);
      throw error;
    }
  }

  makeIndex(key: IndexKey): void {
    if (this.engine.advisor.find(key) === undefined && this.engine.advisor.make(key) !== undefined) this.#onCommit?.();
  }

  override close(): void {
    this.#closing.abort();
    super.close();
  }

  #reportCommit(changed: RecordChange | undefined): void {
    this.#onCommit?.(changed);
    if (changed) this.changes.publish(changed);
  }

  #columns(): ReadonlyMap<string, readonly TableColumn[]> {
    const { tables } = this.opened;
    return new Map(Object.values(tables).map((table) => [table.kind, storedColumns(this.opened, table)]));
  }
}
