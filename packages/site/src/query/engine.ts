import type { StatementWatch } from '@trellis/core/telemetry';
import { LRUCache } from 'lru-cache';
import { quoteIdentifier, type Sql, type SqlValue, type Statements } from '../records/sql.js';
import {
  type CompiledQuery,
  compileQuery,
  countNearTime,
  hasIndexedValue,
  nearStatement,
  type PageRange,
  pageStatement,
  probeStatement,
  type QueryStatement,
  restrictToPositions,
  toStatement,
} from './compile-query.js';
import { IndexAdvisor, type IndexKey } from './index-advisor.js';
import type {
  ComputedValues,
  QueryContext,
  RecordQuery,
  RecordSelection,
  SiteRecord,
  WorkMeter,
} from './record-queries.js';
import {
  DataNotLoadedError,
  findInPieces,
  type FoundMatches,
  type LoadContext,
  readerWithRelations,
  type RecordReader,
  searchStatement,
  toRecords,
} from './record-reader.js';
import { Compilation, type CompileContext } from './scope.js';
import {
  parseSearchKey,
  placesStatement,
  type RecordSearch,
  type SearchPlaces,
  snippetsStatement,
  toSearchKey,
  toSnippetHtml,
} from './search.js';
import { ComputedCache, ComputedValueLoader, type FunctionState } from './sql-functions.js';

/** A compiled query takes a few kilobytes; one with a long list of values is not worth caching. */
const MAX_COMPILED = 500;
const MAX_COMPILED_KEY = 5000;

/** Counts are small, but a `distinct` over all paths of a large site takes megabytes, so the total size is bounded too. */
const AGGREGATES = {
  maxEntries: 500,
  maxSize: 500_000,
  sizeOf: (value: unknown): number => (Array.isArray(value) ? value.length + 1 : 1),
};

/** The matches of the latest searches, about 100 bytes each. */
const SEARCHES = { maxEntries: 100, maxSize: 500_000, sizeOf: ({ size }: SearchPlaces): number => size + 1 };

/** The rows of a bounded page, and their size in characters of JSON. */
interface Page {
  readonly rows: SqlValue[][];
  readonly size: number;
}

interface NearPage {
  readonly page: PageRange;
  readonly reader: RecordReader;
  readonly queryContext: QueryContext;
  readonly read: (statement: QueryStatement) => readonly SqlValue[][];
}

/** A page of twenty files takes a few kilobytes; a full cache takes about 20 MB. */
const PAGES = { maxEntries: 1000, maxSize: 4_000_000, sizeOf: ({ size }: Page): number => size };

/** Reading and sorting this number of rows is faster than finding one row in 200 among 100,000. */
const MAX_FEW = 500;

type Shared = ConstructorParameters<typeof Compilation>[0];

/** Runs the queries of one store, which share statements, indexes and caches. */
export class Engine {
  readonly advisor: IndexAdvisor;
  readonly #statements: Statements;
  readonly #shared: Shared;
  readonly #functions: FunctionState;
  readonly #aggregates: QueryResultCache<unknown>;
  readonly #searches: QueryResultCache<SearchPlaces>;
  readonly #pages: QueryResultCache<Page>;
  readonly #compiled = new LRUCache<string, { query: CompiledQuery; version: number }>({ max: MAX_COMPILED });
  readonly #computed = new ComputedCache();
  readonly #computing = new WeakMap<ComputedValues, ComputedValueLoader>();
  /** The matches of slow filters, by the meter of their operation and by condition. */
  readonly #found = new WeakMap<WorkMeter, Map<string, FoundMatches>>();
  readonly #readers = new WeakMap<RecordSelection, Map<string, RecordReader>>();
  readonly #versionOf: EngineOptions['unchangedSince'];
  readonly #watch: StatementWatch | undefined;

  constructor({ statements, shared, functions, unchangedSince, watch, requestIndex }: EngineOptions) {
    this.#watch = watch;
    this.#statements = statements;
    this.#shared = { ...shared, kinds: () => this.#kinds() };
    this.#functions = functions;
    this.#versionOf = unchangedSince;
    this.#aggregates = new QueryResultCache(AGGREGATES, unchangedSince);
    this.#searches = new QueryResultCache(SEARCHES, unchangedSince);
    this.#pages = new QueryResultCache(PAGES, unchangedSince);
    this.advisor = new IndexAdvisor(statements, shared.tables, requestIndex);
  }

  /** Compiles a query, or returns it from the cache until a record changes of a type that it reads. */
  compile(kind: string, { filter, sort, search }: RecordQuery): CompiledQuery {
    const key = JSON.stringify([kind, filter, sort, search]);
    const known = this.#compiled.get(key);
    if (known && known.version === this.#versionOf(known.query.context.reads)) return known.query;
    const query = compileQuery(kind, { filter, sort, search }, new Compilation(this.#shared));
    if (key.length <= MAX_COMPILED_KEY)
      this.#compiled.set(key, { query, version: this.#versionOf(query.context.reads) });
    return query;
  }

  /**
   * Returns the query restricted to the positions of its matches, if they are few. The positions are cached, so that
   * further pages don't search all records again.
   */
  narrow(query: CompiledQuery, queryContext: QueryContext): CompiledQuery {
    return query.coversFilter ? query : this.#restrictIfFew(query, queryContext);
  }

  /**
   * Returns the rows of a page if they are found without searching all records: an index finds few matches, or the first
   * records in the order of the page contain enough of them.
   */
  readNear(query: CompiledQuery, { page, reader, queryContext, read }: NearPage): readonly SqlValue[][] | undefined {
    const near = nearStatement(query, reader.select, page, this.advisor);
    if (!near) return undefined;
    if (hasIndexedValue(query, this.advisor)) {
      const few = this.#restrictIfFew(query, queryContext);
      if (few.isNarrow) return read(toStatement(few, (any) => pageStatement(any, reader.select, page)));
    }
    const startedAt = performance.now();
    const rows = read(near);
    countNearTime(query, this.advisor, performance.now() - startedAt);
    if (rows.length === page.limit) return rows;
    query.made.isRare = true;
    return undefined;
  }

  #restrictIfFew(query: CompiledQuery, queryContext: QueryContext): CompiledQuery {
    const probe = toStatement(query, (any) => probeStatement(any, MAX_FEW));
    const few = this.aggregate(probe, queryContext, (rows) =>
      rows.length > MAX_FEW ? undefined : JSON.stringify(rows.map(([position]) => position)),
    );
    return few === undefined ? query : restrictToPositions(query, few);
  }

  /**
   * Runs a statement of a query.
   *
   * @throws DataNotLoadedError when computed values have to be loaded, or the statement blocks the process too long.
   */
  all({ query, sql, build }: QueryStatement, queryContext: QueryContext): SqlValue[][] {
    const found = this.#knownMatches(query, queryContext.meter);
    if (found) return this.run(build(found), queryContext);
    return this.run(sql, queryContext, () => {
      throw new DataNotLoadedError(() => this.#findMatches(query, queryContext));
    });
  }

  /** Returns the query restricted to the matches that this operation has found. */
  #knownMatches(query: CompiledQuery, meter: WorkMeter | undefined): CompiledQuery | undefined {
    const found = meter && this.#found.get(meter)?.get(keyOf(query));
    return found?.version === this.#versionOf(query.context.reads) ? found.query : undefined;
  }

  async #findMatches(query: CompiledQuery, queryContext: QueryContext): Promise<void> {
    const { meter } = queryContext;
    if (!meter) return;
    const run = (statement: Sql): SqlValue[][] => this.run(statement, queryContext);
    const startedAt = performance.now();
    const matches = await findInPieces(query, { run, meter, getVersion: () => this.#versionOf(query.context.reads) });
    this.#reportSlow(searchStatement(query), startedAt);
    if (!matches) return;
    const found = this.#found.get(meter) ?? new Map<string, FoundMatches>();
    found.set(keyOf(query), matches);
    this.#found.set(meter, found);
  }

  /**
   * Runs a statement to its end.
   *
   * @param onLong Called when the statement has run for `meter.statementMs`; may throw.
   */
  run({ text, values }: Sql, queryContext: QueryContext, onLong?: () => void): SqlValue[][] {
    // Computing a value may run another statement in this store.
    const outer = { ...this.#functions };
    const { isStatementRunning } = this.advisor;
    this.advisor.isStatementRunning = true;
    const { computed } = queryContext;
    let loader: ComputedValueLoader | undefined;
    const computing = computed && (() => (loader ??= this.#computingFor(computed())));
    const look = createWorkCheck(queryContext.meter, onLong);
    Object.assign(this.#functions, {
      computing,
      placesOf: this.#createPlaceFinder(queryContext),
      look,
      thrown: undefined,
    });
    const startedAt = performance.now();
    try {
      const rows = this.#statements.all(text, values);
      loader?.requireKnown(queryContext.meter);
      return rows;
    } catch (error) {
      throw this.#functions.thrown ?? error;
    } finally {
      this.advisor.isStatementRunning = isStatementRunning;
      Object.assign(this.#functions, { thrown: undefined, look: undefined, placesOf: undefined }, outer);
      this.#reportSlow({ text, values }, startedAt);
    }
  }

  /** A statement sorts by one search, whose matches are looked up once. */
  #createPlaceFinder(queryContext: QueryContext): (key: string) => SearchPlaces {
    let last: { readonly key: string; readonly places: SearchPlaces } | undefined;
    return (key) => {
      if (last?.key !== key) last = { key, places: this.placesOf(parseSearchKey(key), queryContext) };
      return last.places;
    };
  }

  /** Returns the matches of a search, cached until a record of its type changes. */
  placesOf(search: RecordSearch, queryContext: QueryContext): SearchPlaces {
    return this.#searches.get({ text: toSearchKey(search), values: [] }, [search.kind], () => {
      const rows = this.run(placesStatement(search, this.#shared), queryContext);
      return new Map(rows.map(([position, score], place) => [Number(position), { place, score: Number(score) }]));
    });
  }

  /** Returns the snippets of records as HTML, by position. */
  snippetsOf(
    search: RecordSearch,
    { positions, words }: { readonly positions: readonly number[]; readonly words: number },
    queryContext: QueryContext,
  ): ReadonlyMap<number, string> {
    const rows = this.run(snippetsStatement(search, positions, words), queryContext);
    return new Map(rows.map(([position, text]) => [Number(position), toSnippetHtml(String(text))]));
  }

  #reportSlow({ text, values }: Sql, startedAt: number): void {
    const milliseconds = performance.now() - startedAt;
    if (!this.#watch || milliseconds < this.#watch.slowMs) return;
    const explain = (): string =>
      this.#statements
        .all(`EXPLAIN QUERY PLAN ${text}`, values)
        .map((step) => String(step[3]))
        .join('\n');
    this.#watch.onSlow({ text, milliseconds, explain });
  }

  #computingFor(values: ComputedValues): ComputedValueLoader {
    let computing = this.#computing.get(values);
    if (!computing) {
      computing = new ComputedValueLoader(values, () => this.#computed.of(this.#versionOf(undefined)));
      this.#computing.set(values, computing);
    }
    return computing;
  }

  /**
   * Reads the rows of a bounded page and caches them until a record changes of a type that the query reads. Unless that would lose precision, SQLite
   * returns them as one JSON text, which takes half the time.
   */
  readPage(statement: QueryStatement, reader: RecordReader, queryContext: QueryContext): readonly SqlValue[][] {
    if (!reader.isJsonExact) return this.all(statement, queryContext);
    const { query, sql, build } = statement;
    const asJson = ({ text, values }: Sql): Sql => ({
      text: `SELECT json_group_array(json_array(${reader.names()})) FROM (${text})`,
      values,
    });
    const { rows } = this.#pages.get(sql, query.context.reads, () => {
      const [row] = this.all({ query, sql: asJson(sql), build: (any) => asJson(build(any)) }, queryContext);
      const json = String(row?.[0]);
      return { rows: JSON.parse(json) as SqlValue[][], size: json.length };
    });
    return rows;
  }

  /**
   * Runs a statement like {@link all}, reduces its rows, and caches the result until a record changes of a type that the
   * query reads.
   */
  aggregate<T>(statement: QueryStatement, queryContext: QueryContext, reduce: (rows: SqlValue[][]) => T): T {
    const { sql, query } = statement;
    return this.#aggregates.get(sql, query.context.reads, () => reduce(this.all(statement, queryContext)));
  }

  /** Returns the reader of a selection, cached for as long as the document of the selection is. */
  reader(kind: string, selection: RecordSelection, keys: readonly string[] = []): RecordReader {
    const readers = this.#readers.get(selection) ?? new Map<string, RecordReader>();
    this.#readers.set(selection, readers);
    const key = [kind, ...keys].join(' ');
    const reader = readers.get(key) ?? readerWithRelations(kind, selection, keys);
    readers.set(key, reader);
    return reader;
  }

  toRecords(
    rows: readonly SqlValue[][],
    { meter, ...loading }: Omit<Parameters<typeof toRecords>[1], 'context'> & Pick<LoadContext, 'meter'>,
  ): SiteRecord[] {
    const context = { statements: this.#statements, kinds: () => this.#kinds(), meter };
    return toRecords(rows, { ...loading, context });
  }

  #kinds(): CompileContext['kinds'] {
    const all = Object.keys(this.#shared.tables);
    const having = (condition: string): string[] =>
      all.filter(
        (kind) => this.#statements.get(`SELECT 1 FROM ${quoteIdentifier(kind)} ${condition} LIMIT 1`) !== undefined,
      );
    return this.#aggregates.get({ text: 'kinds', values: [] }, undefined, () => ({
      any: having(''),
      children: having('WHERE "parent" > \'\''),
    }));
  }
}

export interface EngineOptions {
  readonly statements: Statements;
  readonly shared: Omit<Shared, 'kinds'>;
  readonly functions: FunctionState;
  /** Returns a number that increases with each change of records of these types, or of any type. */
  readonly unchangedSince: (kinds: readonly string[] | undefined) => number;
  /** Receives slow statements. */
  readonly watch?: StatementWatch;
  /** Requests an index from the process that writes the records; absent if this process does. */
  readonly requestIndex?: (key: IndexKey) => void;
}

const keyOf = ({ kind, where: { text, values } }: CompiledQuery): string => JSON.stringify([kind, text, values]);

interface QueryResultCacheLimits<T> {
  readonly maxEntries: number;
  /** In the unit of `sizeOf`. */
  readonly maxSize: number;
  readonly sizeOf: (result: T) => number;
}

interface CachedResult<T> {
  readonly result: T;
  /** The record types that the statement reads; `undefined` for any. */
  readonly reads: readonly string[] | undefined;
  /** The version of their records. */
  readonly version: number;
}

/**
 * Caches the results of statements until a record changes of a type that they read. Results are shared between callers;
 * don't modify them.
 */
class QueryResultCache<T> {
  readonly #results: LRUCache<string, CachedResult<T>>;
  readonly #versionOf: EngineOptions['unchangedSince'];

  constructor({ maxEntries, maxSize, sizeOf }: QueryResultCacheLimits<T>, versionOf: EngineOptions['unchangedSince']) {
    this.#results = new LRUCache({ max: maxEntries, maxSize, sizeCalculation: ({ result }) => sizeOf(result) });
    this.#versionOf = versionOf;
  }

  /** Returns the cached result of a statement, or computes it if the records of these types have changed since. */
  get<Result extends T>({ text, values }: Sql, reads: readonly string[] | undefined, compute: () => Result): Result {
    const key = values.length === 0 ? text : `${text} ${JSON.stringify(values)}`;
    const known = this.#results.get(key);
    // Each statement has one type of result.
    if (known && known.version === this.#versionOf(known.reads)) return known.result as Result;
    const result = compute();
    this.#results.set(key, { result, reads, version: this.#versionOf(reads) });
    return result;
  }
}

/** Calls skip the check while less time than this passes between checks, as reading the clock costs 0.2 µs. */
const SHORT_MS = 0.05;

/** Few enough that even the most expensive calls, about 10 ms each, delay the next check only briefly. */
const MAX_SKIPPED = 8;

/**
 * Creates the function that a running statement calls for each row and each pattern.
 *
 * @param onLong Called when the statement has run for longer than `meter.statementMs`; may throw.
 */
function createWorkCheck(meter: WorkMeter | undefined, onLong?: () => void): (() => void) | undefined {
  if (!meter) return undefined;
  const endsAt = performance.now() + meter.statementMs;
  let checkedAt = 0;
  let skip = 0;
  let skipped = 0;
  return () => {
    if (skipped < skip) {
      skipped += 1;
      return;
    }
    skipped = 0;
    meter.check();
    const now = performance.now();
    skip = now - checkedAt < SHORT_MS ? Math.min(MAX_SKIPPED, skip + 1) : 0;
    checkedAt = now;
    if (now >= endsAt) onLong?.();
  };
}
