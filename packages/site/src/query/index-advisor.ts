import { findStorageFault, isDamage } from '@trellis/core/storage';
import { LRUCache } from 'lru-cache';
import { listPermanentIndexes, type RecordTables } from '../records/record-schema.js';
import { quoteIdentifier, type SqlValue, type Statements } from '../records/sql.js';

/** A table and the terms of an index on it, in the syntax of `CREATE INDEX`. */
export type IndexKey = string;

/** Each index slows down writes to its table and takes as much space as its columns. */
const MAX_INDEXES = 24;

/** Creating an index for a query that runs once costs more than it saves. */
const USES_BEFORE_INDEX = 2;

/** The time to create an index, for each row of its table. */
const CREATION_MS_PER_ROW = 0.001;

const PREFIX = 'shape:';

/**
 * Creates indexes for the query shapes that are in use, and drops the least recently used ones. With read-only records,
 * it requests them from the process that writes the records.
 */
export class IndexAdvisor {
  readonly #statements: Statements;
  readonly #request: ((key: IndexKey) => void) | undefined;
  readonly #uses = new LRUCache<string, number>({ max: 1000 });
  /** The time that queries may still take before the index of their shape is created. */
  readonly #remainingMs = new LRUCache<string, number>({ max: 1000 });
  readonly #made: LRUCache<string, string>;
  readonly #permanent: ReadonlyMap<IndexKey, string>;
  /** The names of existing indexes, at a version of the schema. */
  #existing: { readonly version: SqlValue | undefined; readonly names: ReadonlySet<SqlValue> } | undefined;
  /** Whether a statement runs, during which SQLite can neither create nor drop an index. */
  isStatementRunning = false;

  /** @param request Requests an index from a different process, as the records are read-only. */
  constructor(statements: Statements, tables: RecordTables, request?: (key: IndexKey) => void) {
    this.#statements = statements;
    this.#request = request;
    this.#permanent = permanentIndexes(tables);
    this.#made = new LRUCache({
      max: MAX_INDEXES,
      dispose: (name) => statements.run(`DROP INDEX IF EXISTS ${quoteIdentifier(name)}`),
    });
    if (request === undefined) this.#dropOld();
  }

  /** Returns the name of the index for a shape, which is created at the second request for it. */
  advise(key: IndexKey | undefined): string | undefined {
    const known = this.find(key);
    if (key === undefined || known !== undefined || this.isStatementRunning) return known;
    const uses = (this.#uses.get(key) ?? 0) + 1;
    this.#uses.set(key, uses);
    if (uses < USES_BEFORE_INDEX) return undefined;
    if (this.#request === undefined) return this.make(key);
    if (uses === USES_BEFORE_INDEX) this.#request(key);
    return undefined;
  }

  /**
   * Counts the time of a query that does not need the index of its shape. The index is created when such queries have
   * taken as long as its creation does.
   */
  countTime(kind: string, key: IndexKey | undefined, milliseconds: number): void {
    if (key === undefined || this.isStatementRunning) return;
    const left = this.#remainingMs.get(key) ?? this.#creationMs(kind);
    this.#remainingMs.set(key, left - milliseconds);
    if (left <= 0 || left > milliseconds) return;
    if (this.#request === undefined) this.make(key);
    else this.#request(key);
  }

  #creationMs(kind: string): number {
    const [rows] = this.#statements.get(`SELECT count(*) FROM ${quoteIdentifier(kind)}`) ?? [];
    return Number(rows) * CREATION_MS_PER_ROW;
  }

  /** Forgets which indexes were requested, because the records have changed since. */
  resetRequests(): void {
    this.#uses.clear();
    this.#remainingMs.clear();
  }

  /** Returns the name of the index for a shape, if it exists. */
  find(key: IndexKey | undefined): string | undefined {
    if (key === undefined) return undefined;
    const permanent = this.#permanent.get(key);
    if (permanent !== undefined && this.#exists(permanent)) return permanent;
    if (this.#request === undefined) return this.#made.get(key);
    return this.#exists(PREFIX + key) ? PREFIX + key : undefined;
  }

  /** Returns the name of the permanent index of one column, if it exists. After a bulk load, it is created late. */
  findPermanent(kind: string, column: string): string | undefined {
    const name = this.#permanent.get(`${quoteIdentifier(kind)} (${quoteIdentifier(column)})`);
    return name !== undefined && this.#exists(name) ? name : undefined;
  }

  #exists(name: string): boolean {
    const version = this.#statements.get('PRAGMA schema_version')?.[0];
    if (this.#existing?.version !== version) {
      const names = this.#statements
        .all(`SELECT name FROM sqlite_schema WHERE type = 'index'`)
        .map(([one]) => one ?? null);
      this.#existing = { version, names: new Set(names) };
    }
    return this.#existing?.names.has(name) === true;
  }

  /** Creates the index for a shape unless it exists, and returns its name. */
  make(key: IndexKey): string | undefined {
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const name = PREFIX + key;
    try {
      this.#statements.run(`CREATE INDEX IF NOT EXISTS ${quoteIdentifier(name)} ON ${key}`);
      this.#made.set(key, name);
    } catch (error) {
      // On a full or read-only disk, queries work without the index.
      if (isDamage(error) || findStorageFault(error) === undefined) throw error;
      return undefined;
    }
    return name;
  }

  /** Drops the indexes of previous runs, as this run may serve other queries. */
  #dropOld(): void {
    const old = this.#statements.all(`SELECT name FROM sqlite_schema WHERE type = 'index' AND name LIKE '${PREFIX}%'`);
    for (const [name] of old) this.#statements.run(`DROP INDEX ${quoteIdentifier(String(name))}`);
  }
}

/** Returns the names of the permanent indexes that contain all rows, so that no copy of one is created. */
const permanentIndexes = (tables: RecordTables): ReadonlyMap<IndexKey, string> =>
  new Map(
    listPermanentIndexes(tables)
      .filter(({ which }) => which === '')
      .map(({ name, key }) => [key, name]),
  );
