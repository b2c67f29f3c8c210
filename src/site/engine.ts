import { LRUCache } from 'lru-cache';
import { AnswerCache } from './answer-cache.js';
import { compileQuery, narrowTo, probeStatement, statementOf } from './compile-query.js';
import type { CompiledQuery, QueryStatement } from './compile-query.js';
import { ComputedCache, Computing, NotYetKnown } from './computed-values.js';
import type { ComputedValues } from './computed-values.js';
import { IndexAdvisor } from './index-advisor.js';
import { createLook } from './look.js';
import type { RecordReader } from './read-records.js';
import type { Asker, RecordQuery } from './record-queries.js';
import { readerWithRelations, toRecords } from './related-records.js';
import type { LoadContext } from './related-records.js';
import { Scans } from './scans.js';
import { Compilation } from './scope.js';
import type { CompileContext } from './scope.js';
import type { Selection, SiteRecord } from './selection.js';
import type { FunctionState } from './sql-functions.js';
import type { Sql, SqlValue } from './sql.js';
import { quote } from './sql.js';
import type { Statements } from './statements.js';

/** A compiled question is some kilobytes; one with a long list of values is not worth keeping. */
const MAX_COMPILED = 500;
const MAX_COMPILED_KEY = 5000;

/** Counts are small; a distinct over every path of a large site is some megabytes, hence the bound on size too. */
const AGGREGATES = {
  maxEntries: 500,
  maxSize: 500_000,
  sizeOf: (value: unknown): number => (Array.isArray(value) ? value.length + 1 : 1),
};

/** The rows of a bounded page, and how many characters of JSON they were. */
interface Page {
  readonly rows: SqlValue[][];
  readonly size: number;
}

/** Pages of twenty files are some kilobytes; all that are kept take some 20 MB. */
const PAGES = { maxEntries: 1000, maxSize: 4_000_000, sizeOf: ({ size }: Page): number => size };

/** So many rows are read and sorted faster than one in two hundred is found among 100,000. */
const MAX_FEW = 500;

type Shared = ConstructorParameters<typeof Compilation>[0];

/** What the questions of one store share: statements, indexes, and what is known of this generation of records. */
export class Engine {
  readonly advisor: IndexAdvisor;
  readonly #statements: Statements;
  readonly #shared: Shared;
  readonly #functions: FunctionState;
  readonly #aggregates = new AnswerCache<unknown>(AGGREGATES);
  readonly #pages = new AnswerCache<Page>(PAGES);
  readonly #compiled = new LRUCache<string, { query: CompiledQuery; generation: number }>({ max: MAX_COMPILED });
  readonly #computed = new ComputedCache();
  readonly #computing = new WeakMap<ComputedValues, Computing>();
  readonly #scans: Scans;
  readonly #readers = new WeakMap<Selection, Map<string, RecordReader>>();
  readonly #generation: () => number;

  constructor({ statements, shared, functions, generation }: EngineOptions) {
    this.#statements = statements;
    this.#shared = { ...shared, kinds: () => this.#kinds() };
    this.#functions = functions;
    this.#generation = generation;
    this.#scans = new Scans({ run: (statement, asker) => this.run(statement, asker), generation });
    this.advisor = new IndexAdvisor(statements);
  }

  /** The same question asked again, in this generation, is not compiled again. */
  compile(kind: string, { filter, sort }: RecordQuery): CompiledQuery {
    const key = JSON.stringify([kind, filter, sort]);
    const known = this.#compiled.get(key);
    if (known?.generation === this.#generation()) return known.query;
    const query = compileQuery(kind, { filter, sort }, new Compilation(this.#shared));
    if (key.length <= MAX_COMPILED_KEY) this.#compiled.set(key, { query, generation: this.#generation() });
    return query;
  }

  /**
   * The same question about its few matches, where they are few: found once
   * and kept, they make a page that would look for them through all records.
   */
  narrow(query: CompiledQuery, asker: Asker): CompiledQuery {
    if (query.hints.isPlain) return query;
    const probe = statementOf(query, (any) => probeStatement(any, MAX_FEW));
    const few = this.aggregate(probe, asker, (rows) =>
      rows.length > MAX_FEW ? undefined : JSON.stringify(rows.map(([position]) => position)),
    );
    return few === undefined ? query : narrowTo(query, few);
  }

  /**
   * Runs a statement of a query.
   *
   * @throws NotYetKnown when computed values are needed that take time, or the statement holds the process too long.
   */
  all({ query, sql, build }: QueryStatement, asker: Asker): SqlValue[][] {
    const found = this.#scans.find(query, asker.meter);
    if (found) return this.run(build(found), asker);
    return this.run(sql, asker, () => {
      throw new NotYetKnown(() => this.#scans.scan(query, asker));
    });
  }

  /**
   * Runs one statement to its end.
   *
   * @param onLong Called when it has run for as long as the meter lets it; may throw.
   */
  run({ text, values }: Sql, asker: Asker, onLong?: () => void): SqlValue[][] {
    // A computed value may ask the store in its turn.
    const outer = { ...this.#functions };
    const computing = asker.computed && this.#computingFor(asker.computed);
    Object.assign(this.#functions, { computing, look: createLook(asker.meter, onLong), thrown: undefined });
    try {
      const rows = this.#statements.all(text, values);
      computing?.requireKnown(asker.meter);
      return rows;
    } catch (error) {
      throw this.#functions.thrown ?? error;
    } finally {
      Object.assign(this.#functions, { thrown: undefined, look: undefined }, outer);
    }
  }

  #computingFor(values: ComputedValues): Computing {
    let computing = this.#computing.get(values);
    if (!computing) {
      computing = new Computing(values, () => this.#computed.of(this.#generation()));
      this.#computing.set(values, computing);
    }
    return computing;
  }

  /**
   * The rows of a bounded page, kept until a record changes. As one JSON text
   * they cross from SQLite in half the time, where nothing is lost by it.
   */
  readPage(statement: QueryStatement, reader: RecordReader, asker: Asker): readonly SqlValue[][] {
    if (!reader.isJsonExact) return this.all(statement, asker);
    const { query, sql, build } = statement;
    const asJson = ({ text, values }: Sql): Sql => ({
      text: `SELECT json_group_array(json_array(${reader.names()})) FROM (${text})`,
      values,
    });
    const { rows } = this.#pages.get(this.#generation(), sql, () => {
      const [row] = this.all({ query, sql: asJson(sql), build: (any) => asJson(build(any)) }, asker);
      const json = String(row?.[0]);
      return { rows: JSON.parse(json) as SqlValue[][], size: json.length };
    });
    return rows;
  }

  /** As {@link all}, made smaller by `reduce` and kept until a record changes. */
  aggregate<T>(statement: QueryStatement, asker: Asker, reduce: (rows: SqlValue[][]) => T): T {
    return this.#aggregates.get(this.#generation(), statement.sql, () => reduce(this.all(statement, asker)));
  }

  /** A selection lives as long as the document that it was read from, and so does its reader. */
  reader(kind: string, selection: Selection, keys: readonly string[] = []): RecordReader {
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
      all.filter((kind) => this.#statements.get(`SELECT 1 FROM ${quote(kind)} ${condition} LIMIT 1`) !== undefined);
    return this.#aggregates.get(this.#generation(), { text: 'kinds', values: [] }, () => ({
      any: having(''),
      children: having('WHERE "parent" > \'\''),
    }));
  }
}

export interface EngineOptions {
  readonly statements: Statements;
  readonly shared: Omit<Shared, 'kinds'>;
  readonly functions: FunctionState;
  readonly generation: () => number;
}
