import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import type { StatementWatch } from '@trellis/core/telemetry';
import { PatternCache } from './patterns/patterns.js';
import { firstRowStatement } from './query/compile-query.js';
import { QueryConnection } from './query/connection.js';
import { Engine, type EngineOptions } from './query/engine.js';
import type { IndexKey } from './query/index-advisor.js';
import type { RecordQueries } from './query/record-queries.js';
import { withComputedValues } from './query/record-reader.js';
import { defineFunctions, type FunctionState } from './query/sql-functions.js';
import { ChangeFeed, type RecordChange } from './record-changes.js';
import type { RecordSchema } from './records/record-schema.js';
import { quoteIdentifier, type SqlValue, Statements } from './records/sql.js';

/** The records of a site as queries read them. */
export interface SiteRecords extends RecordQueries {
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
  /** Increases with each change that queries see, so that results of the same generation can be reused. */
  readonly generation: number;
  /** Returns the generation since which no record of these types has changed, or of any type. */
  unchangedSince(kinds: readonly string[] | undefined): number;
  /** The time of the last change since the server started, in milliseconds; `undefined` before the first one. */
  readonly changedAt: number | undefined;
  /** The changes of the records. */
  readonly changes: ChangeFeed;
  /** Returns the number of records of each type. */
  countRecords(): Readonly<Record<string, number>>;
  close(): void;
}

export interface PositionRange {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

export interface SiteRecordsOptions extends RecordSchema {
  /** A path, or `:memory:`. */
  readonly file: string;
  /** Receives slow statements of queries. */
  readonly watch?: StatementWatch;
  /** Called with the error of a statement that finds the file damaged. */
  readonly onDamage?: (error: unknown) => void;
}

export interface OpenedRecords extends RecordSchema {
  readonly database: DatabaseSyncInstance;
  readonly file: string;
}

/** The part of the records that both the process which writes them and others need. */
export abstract class StoredRecords<Opened extends OpenedRecords> implements SiteRecords {
  protected readonly opened: Opened;
  protected readonly statements: Statements;
  protected readonly engine: Engine;
  protected nonBmp: NonBmpColumns;
  readonly changes = new ChangeFeed(() => this.revision);
  #generation = 0;
  /** The generations in which records of a type last changed, and in which any record did. */
  readonly #changedIn = new Map<string, number>();
  #anyChangedIn = 0;
  /** The latest generation in which records of unknown types changed. */
  #unknownChangedIn = 0;
  #changedAt: number | undefined;
  #counts: { readonly generation: number; readonly byKind: Readonly<Record<string, number>> } | undefined;

  constructor(
    opened: Opened,
    {
      functions,
      watch,
      onDamage,
      requestIndex,
    }: Pick<EngineOptions, 'functions' | 'requestIndex' | 'watch'> & Pick<SiteRecordsOptions, 'onDamage'>,
  ) {
    const { database, tables } = opened;
    this.opened = opened;
    this.statements = new Statements(database, onDamage);
    this.nonBmp = this.readNonBmp();
    const isAstral = (kind: string, column: string): boolean => this.#isAstral(kind, column);
    this.engine = new Engine({
      statements: this.statements,
      shared: { tables, patterns: functions.patterns, isAstral },
      functions,
      watch,
      requestIndex,
      unchangedSince: (kinds) => this.unchangedSince(kinds),
    });
  }

  get generation(): number {
    return this.#generation;
  }

  unchangedSince(kinds: readonly string[] | undefined): number {
    if (kinds === undefined) return this.#anyChangedIn;
    return kinds.reduce((latest, kind) => Math.max(latest, this.#changedIn.get(kind) ?? 0), this.#unknownChangedIn);
  }

  get changedAt(): number | undefined {
    return this.#changedAt;
  }

  countRecords(): Readonly<Record<string, number>> {
    if (this.#counts?.generation === this.#generation) return this.#counts.byKind;
    const countKind = (kind: string): number =>
      Number(this.statements.get(`SELECT count(*) FROM ${quoteIdentifier(kind)}`)?.[0]);
    const byKind = Object.fromEntries(Object.keys(this.opened.tables).map((kind) => [kind, countKind(kind)]));
    this.#counts = { generation: this.#generation, byKind };
    return byKind;
  }

  *rows(kind: string, columns: readonly string[], within?: PositionRange): Generator<Record<string, SqlValue>> {
    const names = ['position', ...columns];
    const range = within ? 'WHERE position >= ? AND position < ?' : '';
    const text = `SELECT ${names.map(quoteIdentifier).join(', ')} FROM ${quoteIdentifier(kind)} ${range} ORDER BY position`;
    for (const row of this.statements.iterate(text, within ? [within.from, within.to] : [])) {
      yield Object.fromEntries(names.map((name, index) => [name, row[index] ?? null]));
    }
  }

  at(kind: string, columns: readonly string[], position: number): Record<string, SqlValue> | undefined {
    const text = `SELECT ${columns.map(quoteIdentifier).join(', ')} FROM ${quoteIdentifier(kind)} WHERE position = ?`;
    return toNamed(columns, this.statements.get(text, [position]));
  }

  first(
    kind: string,
    columns: readonly string[],
    values: Readonly<Record<string, SqlValue>>,
  ): Record<string, SqlValue> | undefined {
    const statement = firstRowStatement({ kind, columns, values }, this.engine.advisor);
    return toNamed(columns, this.statements.get(statement.text, statement.values));
  }

  meta(key: string): string | undefined {
    return this.statements.get('SELECT value FROM "~meta" WHERE key = ?', [key])?.[0] as string | undefined;
  }

  withComputedValues: RecordQueries['withComputedValues'] = withComputedValues;

  find: RecordQueries['find'] = (kind, query, selection) =>
    new QueryConnection(this.engine, kind, { ...query, limit: 1 }, selection).nodes[0];

  page: RecordQueries['page'] = (kind, query, selection) => new QueryConnection(this.engine, kind, query, selection);

  close(): void {
    this.changes.close();
    this.opened.database.close();
  }

  /**
   * Begins the next generation of records.
   *
   * @param kinds The types of the records that have changed; by default any.
   */
  protected advance(changedAt: number | undefined, kinds?: readonly string[]): void {
    this.#generation += 1;
    this.#changedAt = changedAt;
    if (kinds?.length === 0) return;
    this.#anyChangedIn = this.#generation;
    if (!kinds) this.#unknownChangedIn = this.#generation;
    for (const kind of kinds ?? []) this.#changedIn.set(kind, this.#generation);
  }

  /** The revision of the records: see `RecordChange`. */
  protected get revision(): number {
    return Number(this.meta(REVISION) ?? 0);
  }

  protected readNonBmp(): NonBmpColumns {
    return new NonBmpColumns(this.meta('~astral'));
  }

  /** A virtual column may contain text from any stored column. */
  #isAstral(kind: string, column: string): boolean {
    const isDerived = this.opened.derived?.[kind]?.[column] !== undefined;
    return isDerived ? this.nonBmp.hasAny(kind) : this.nonBmp.has(kind, column);
  }
}

export const REVISION = '~revision';

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

/** The records of a site that a different process writes. */
export interface FollowedRecords extends SiteRecords {
  /**
   * Makes the committed changes of the other process visible to queries, which see the records of one moment in between.
   *
   * @param changedAt The time of the last change, in milliseconds.
   * @param change The change since the last call, if there was one.
   */
  refresh(changedAt: number | undefined, change?: RecordChange): void;
}

export interface FollowedRecordsOptions extends SiteRecordsOptions {
  /** Requests an index from the process that writes the records. */
  readonly requestIndex: (key: IndexKey) => void;
}

/**
 * Opens the records of a site for reading, while a different process has them open and writes them.
 *
 * @throws the error of SQLite when the file is missing or damaged.
 */
export function followRecords(options: FollowedRecordsOptions): FollowedRecords {
  const { file, tables, derived, watch, onDamage, requestIndex } = options;
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    database.exec('PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32000');
    const functions: FunctionState = { patterns: new PatternCache() };
    defineFunctions(database, functions);
    beginSnapshot(database);
    return new SnapshotRecords({ database, file, tables, derived }, { functions, watch, onDamage, requestIndex });
  } catch (error) {
    database.close();
    throw error;
  }
}

class SnapshotRecords extends StoredRecords<OpenedRecords> implements FollowedRecords {
  #revision = 0;

  refresh(changedAt: number | undefined, change?: RecordChange): void {
    const { database } = this.opened;
    if (database.isTransaction) database.exec('COMMIT');
    beginSnapshot(database);
    this.nonBmp = this.readNonBmp();
    this.engine.advisor.resetRequests();
    const before = this.#revision;
    this.#revision = this.revision;
    // The snapshot may contain later changes too, which are reported afterwards.
    const isOnlyThis = this.#revision === before || this.#revision === change?.revision;
    this.advance(changedAt, isOnlyThis ? (change?.kinds ?? []) : undefined);
  }
}

/** Begins a transaction. Its snapshot is that of its first read. */
function beginSnapshot(database: DatabaseSyncInstance): void {
  database.exec('BEGIN');
  database.prepare('SELECT count(*) FROM "~meta"').get();
}
