import { compileValue, countStatement, pageStatement, toStatement, tallyStatement } from './compile-query.js';
import type { CompiledQuery, QueryStatement } from './compile-query.js';
import type { PathValue } from './compile-path.js';
import { toEdges } from './edges.js';
import type { RecordEdge } from './edges.js';
import type { Engine } from './engine.js';
import { toRecordGroups, sortGroups } from './groups.js';
import type { GroupQuery, RecordGroup } from './groups.js';
import { assertGroupable, sortTexts, toGroupKeys } from './group-values.js';
import { pageInfo, parsePage } from './paging.js';
import type { PageRange, PageInfo } from './paging.js';
import type { QueryContext, RecordQuery } from './record-queries.js';
import type { RecordSelection, SiteRecord } from './selection.js';
import type { SqlValue } from './sql.js';

/** The records that match a query. Each part is read on first access. */
export class RecordConnection {
  readonly #engine: Engine;
  readonly #query: CompiledQuery;
  readonly #page: PageRange;
  readonly #queryContext: QueryContext;
  readonly #selection: RecordSelection;
  #nodes: SiteRecord[] | undefined;

  constructor(engine: Engine, kind: string, query: RecordQuery, selection: RecordSelection) {
    this.#engine = engine;
    this.#page = parsePage(query);
    this.#query = engine.compile(kind, query);
    this.#queryContext = query;
    this.#selection = selection;
  }

  /** The number of matches on all pages. */
  get totalCount(): number {
    const { skip, limit } = this.#page;
    // A page that is not full is the last one.
    if (this.#nodes && (limit === undefined || this.#nodes.length < limit) && (this.#nodes.length > 0 || skip === 0)) {
      return skip + this.#nodes.length;
    }
    const statement = toStatement(this.#query, (query) => countStatement(query, this.#engine.advisor));
    return this.#engine.aggregate(statement, this.#queryContext, ([row]) => Number(row?.[0]));
  }

  get nodes(): readonly SiteRecord[] {
    this.#nodes ??= this.#load();
    return this.#nodes;
  }

  get edges(): RecordEdge[] {
    return toEdges(this.nodes);
  }

  get pageInfo(): PageInfo {
    return pageInfo(this.#page, this.totalCount);
  }

  /** Returns the distinct values of a field on this page as text, sorted by UTF-16 code unit. */
  distinct({ field }: { readonly field: string }): readonly string[] {
    return this.#tally(this.#value(field)).map(([text]) => text);
  }

  /** Returns a group for each value of a field on this page. `skip` and `limit` apply within each group. */
  group({ field, sort, ...args }: GroupQuery): RecordGroup[] {
    const page = parsePage(args);
    const value = this.#value(field);
    const readMembers = (): Map<string, number[]> => this.#members(value);
    return toRecordGroups({
      field,
      page,
      counts: sortGroups(this.#tally(value), sort),
      readMembers,
      readRecords: (positions) => this.#at(positions),
    });
  }

  get #isWhole(): boolean {
    return this.#page.limit === undefined && this.#page.skip === 0;
  }

  #value(field: string): PathValue {
    const value = compileValue(this.#query, field);
    assertGroupable(value, field);
    return value;
  }

  /** Counts the records of the page by value. SQL does the counting if the page contains all matches. */
  #tally(value: PathValue): readonly (readonly [string, number])[] {
    const reduce = (rows: SqlValue[][]): (readonly [string, number])[] => {
      const counts = new Map<string, number>();
      for (const [one = null, count] of rows) {
        for (const text of toGroupKeys(one, value)) counts.set(text, (counts.get(text) ?? 0) + Number(count));
      }
      return sortTexts(counts.keys()).map((text) => [text, counts.get(text) ?? 0] as const);
    };
    if (this.#isWhole) {
      const statement = toStatement(this.#query, (query) => tallyStatement(query, value));
      return this.#engine.aggregate(statement, this.#queryContext, reduce);
    }
    return reduce(this.#engine.all(this.#valueStatement(value), this.#queryContext).map(([one = null]) => [one, 1]));
  }

  #members(value: PathValue): Map<string, number[]> {
    this.#queryContext.meter?.check();
    const members = new Map<string, number[]>();
    for (const [one = null, position] of this.#engine.all(this.#valueStatement(value), this.#queryContext)) {
      for (const text of toGroupKeys(one, value)) {
        const positions = members.get(text) ?? [];
        positions.push(Number(position));
        members.set(text, positions);
      }
    }
    return members;
  }

  #valueStatement({ expression }: PathValue): QueryStatement {
    return toStatement(this.#narrowed(), (query) => {
      const select = `${expression.text}, t.position`;
      const statement = pageStatement(query, select, this.#page, this.#engine.advisor);
      return { ...statement, values: [...expression.values, ...statement.values] };
    });
  }

  /** Narrowing helps only with a limit; without one, all matches are read anyway. */
  #narrowed(): CompiledQuery {
    return this.#page.limit === undefined ? this.#query : this.#engine.narrow(this.#query, this.#queryContext);
  }

  #load(): SiteRecord[] {
    if (this.#page.limit === 0) return [];
    const reader = this.#engine.reader(this.#query.kind, this.#selection);
    const statement = toStatement(this.#narrowed(), (query) =>
      pageStatement(query, reader.select, this.#page, this.#engine.advisor),
    );
    const rows = isWorthJson(this.#page)
      ? this.#engine.readPage(statement, reader, this.#queryContext)
      : this.#engine.all(statement, this.#queryContext);
    return this.#engine.toRecords(rows, { selection: this.#selection, reader, meter: this.#queryContext.meter });
  }

  #at(positions: readonly number[]): ReadonlyMap<number, SiteRecord> {
    this.#queryContext.meter?.check();
    const reader = this.#engine.reader(this.#query.kind, this.#selection, ['position']);
    const text = `SELECT ${reader.select} FROM "${this.#query.kind}" AS t WHERE t.position IN (SELECT value FROM json_each(?))`;
    const rows = this.#engine.run({ text, values: [JSON.stringify(positions)] }, this.#queryContext);
    const records = this.#engine.toRecords(rows, {
      selection: this.#selection,
      reader,
      meter: this.#queryContext.meter,
    });
    const at = reader.keyIndex('position');
    return new Map(rows.map((row, index) => [Number(row[at]), records[index] ?? {}]));
  }
}

/** For a few rows, one JSON text costs more. Without a limit, SQLite could ignore the order of the subquery. */
const isWorthJson = ({ limit }: PageRange): boolean => limit !== undefined && limit > 4;
