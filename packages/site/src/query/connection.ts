import { AppError } from '@trellis/core/errors';
import { ALWAYS, type SqlValue } from '../records/sql.js';
import {
  type CompiledQuery,
  compileValue,
  countStatement,
  distinctStatement,
  type PageRange,
  pageStatement,
  type QueryStatement,
  restrictToValue,
  tallyStatement,
  toStatement,
} from './compile-query.js';
import type { Engine } from './engine.js';
import { isIndexable, type PathValue } from './paths.js';
import type {
  GroupQuery,
  PageInfo,
  QueryContext,
  RecordConnection,
  RecordEdge,
  RecordGroup,
  RecordQuery,
  RecordSelection,
  SearchMatch,
  SiteRecord,
} from './record-queries.js';
import type { RecordSearch } from './search.js';

/** The member of a record with its position, which no field can have. */
const POSITION = '~position';

/** The selections of searches, which are reused as long as the document is cached. */
const positioned = new WeakMap<RecordSelection, RecordSelection>();

function withPosition(selection: RecordSelection): RecordSelection {
  const known = positioned.get(selection);
  if (known) return known;
  const position = { kind: 'column', name: POSITION, column: 'position', holds: 'value' } as const;
  const extended = { ...selection, values: [...selection.values, position] };
  positioned.set(selection, extended);
  return extended;
}

/** Reads the parts of a connection with the engine. */
export class QueryConnection implements RecordConnection {
  readonly #engine: Engine;
  readonly #query: CompiledQuery;
  readonly #page: PageRange;
  readonly #queryContext: QueryContext;
  readonly #selection: RecordSelection;
  readonly #snippetsByWords = new Map<number, ReadonlyMap<number, string>>();
  #nodes: SiteRecord[] | undefined;

  constructor(engine: Engine, kind: string, query: RecordQuery, selection: RecordSelection) {
    this.#engine = engine;
    this.#page = parsePage(query);
    this.#query = engine.compile(kind, query);
    this.#queryContext = query;
    this.#selection = this.#query.search ? withPosition(selection) : selection;
  }

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
    const edges = toEdges(this.nodes);
    const { search } = this.#query;
    return search ? edges.map((edge) => ({ ...edge, match: this.#matchOf(edge.node, search) })) : edges;
  }

  #matchOf(node: SiteRecord, search: RecordSearch): SearchMatch {
    const position = Number(node[POSITION]);
    const engine = this.#engine;
    const queryContext = this.#queryContext;
    return {
      get score() {
        return engine.placesOf(search, queryContext).get(position)?.score ?? null;
      },
      snippet: (words) => this.#snippets(search, words).get(position) ?? null,
    };
  }

  /** Reads the snippets of all nodes at once. */
  #snippets(search: RecordSearch, words: number): ReadonlyMap<number, string> {
    const positions = this.nodes.map((node) => Number(node[POSITION]));
    const snippets =
      this.#snippetsByWords.get(words) ?? this.#engine.snippetsOf(search, { positions, words }, this.#queryContext);
    this.#snippetsByWords.set(words, snippets);
    return snippets;
  }

  get pageInfo(): PageInfo {
    return pageInfo(this.#page, this.totalCount);
  }

  distinct({ field }: { readonly field: string }): readonly string[] {
    const value = this.#value(field);
    return this.#indexedValues(value) ?? this.#tally(value).map(([text]) => text);
  }

  group({ field, sort, ...args }: GroupQuery): RecordGroup[] {
    const page = parsePage(args);
    const value = this.#value(field);
    const counts = this.#tally(value);
    const isEach = this.#isWhole && canReadEach(this.#query, { value, page, counts });
    return toRecordGroups({
      field,
      page,
      counts: sortGroups(counts, sort),
      readMembers: () => (isEach ? this.#pagesOf(value, { counts, page }) : cutMembers(this.#members(value), page)),
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

  /** Returns the distinct values of all records from an index, unless they are too many to look each up. */
  #indexedValues(value: PathValue): readonly string[] | undefined {
    const { kind, where } = this.#query;
    if (value.column === undefined || value.list || !this.#isWhole || where !== ALWAYS) return undefined;
    const index = this.#engine.advisor.findPermanent(kind, value.column);
    if (index === undefined) return undefined;
    const statement = distinctStatement(kind, value.column, index, MAX_LOOKED_UP);
    return this.#engine.aggregate(
      toStatement(this.#query, () => statement),
      this.#queryContext,
      (rows) => (rows.length > MAX_LOOKED_UP ? undefined : sortTexts(rows.map(([one]) => toText(one, value)))),
    );
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

  /** Reads the positions of each group's page with a statement of its own, which an index serves. */
  #pagesOf(
    { column = '', text: isText }: PathValue,
    { counts, page }: Pick<Grouping, 'counts' | 'page'>,
  ): Map<string, number[]> {
    const { advisor } = this.#engine;
    return new Map(
      counts.map(([text]) => {
        const group = restrictToValue(this.#query, column, isText ? text : Number(text));
        const statement = toStatement(group, (query) => pageStatement(query, 't.position', page, advisor));
        const rows = this.#engine.all(statement, this.#queryContext);
        return [text, rows.map(([position]) => Number(position))] as const;
      }),
    );
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
    const read = (statement: QueryStatement): readonly SqlValue[][] =>
      isWorthJson(this.#page)
        ? this.#engine.readPage(statement, reader, this.#queryContext)
        : this.#engine.all(statement, this.#queryContext);
    const near = { page: this.#page, reader, queryContext: this.#queryContext, read };
    const rows = this.#engine.readNear(this.#query, near) ?? read(this.#pageStatement(reader.select));
    return this.#engine.toRecords(rows, { selection: this.#selection, reader, meter: this.#queryContext.meter });
  }

  #pageStatement(select: string): QueryStatement {
    return toStatement(this.#narrowed(), (query) => pageStatement(query, select, this.#page, this.#engine.advisor));
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

/** Looking up this number of distinct values takes about 20 ms. */
const MAX_LOOKED_UP = 8000;

/** Running a statement takes as long as reading about this number of rows. */
const RECORDS_PER_GROUP = 20;

/** For a few rows, one JSON text costs more. Without a limit, SQLite could ignore the order of the subquery. */
const isWorthJson = ({ limit }: PageRange): boolean => limit !== undefined && limit > 4;

type Count = readonly [fieldValue: string, count: number];

/** Sorts groups that are in ascending order by value. Groups with equal counts keep this order. */
function sortGroups(counts: readonly Count[], sort: GroupQuery['sort']): readonly Count[] {
  if (!sort) return counts;
  const sign = sort.order === 'DESC' ? -1 : 1;
  if (sort.by === 'COUNT') return [...counts].sort(([, one], [, other]) => (one - other) * sign);
  return sign === 1 ? counts : [...counts].reverse();
}

interface Grouping {
  readonly field: string;
  readonly page: PageRange;
  readonly counts: readonly Count[];
  /** Reads the positions of the records on each group's page, in the order of the query. */
  readonly readMembers: () => ReadonlyMap<string, readonly number[]>;
  readonly readRecords: (positions: readonly number[]) => ReadonlyMap<number, SiteRecord>;
}

/** Creates the groups. The records of all groups are read together, on first access to any of them. */
function toRecordGroups(grouping: Grouping): RecordGroup[] {
  let shown: Shown | undefined;
  const show = (): Shown => (shown ??= readShown(grouping));
  return grouping.counts.map((count) => new LazyGroup(grouping, count, show));
}

type Shown = ReadonlyMap<string, readonly SiteRecord[]>;

class LazyGroup implements RecordGroup {
  readonly field: string;
  readonly fieldValue: string;
  readonly totalCount: number;
  readonly #page: PageRange;
  readonly #show: () => Shown;

  constructor({ field, page }: Grouping, [fieldValue, totalCount]: Count, show: () => Shown) {
    this.field = field;
    this.fieldValue = fieldValue;
    this.totalCount = totalCount;
    this.#page = page;
    this.#show = show;
  }

  get pageInfo(): PageInfo {
    return pageInfo(this.#page, this.totalCount);
  }

  get nodes(): readonly SiteRecord[] {
    return this.#show().get(this.fieldValue) ?? [];
  }

  get edges(): readonly RecordEdge[] {
    return toEdges(this.nodes);
  }
}

/** Whether reading each group's page takes less time than reading all matches, which are in equality with indexes. */
const canReadEach = (
  { coversFilter, sort }: CompiledQuery,
  { value, page, counts }: Pick<Grouping, 'counts' | 'page'> & { readonly value: PathValue },
): boolean =>
  page.limit !== undefined &&
  coversFilter &&
  sort.every(isIndexable) &&
  value.column !== undefined &&
  !value.list &&
  !value.boolean &&
  counts.length * RECORDS_PER_GROUP <= counts.reduce((sum, [, count]) => sum + count, 0);

const cutMembers = (members: ReadonlyMap<string, number[]>, { skip, limit }: PageRange): Map<string, number[]> =>
  new Map([...members].map(([text, all]) => [text, all.slice(skip, limit === undefined ? undefined : skip + limit)]));

function readShown({ readMembers, readRecords }: Grouping): Shown {
  const shown = [...readMembers()];
  const records = readRecords([...new Set(shown.flatMap(([, positions]) => positions))]);
  return new Map(
    shown.map(([fieldValue, positions]) => [fieldValue, positions.map((position) => records.get(position) ?? {})]),
  );
}

/**
 * Checks that a path can be grouped by.
 *
 * @throws AppError `invalid_input` when the values are single objects.
 */
function assertGroupable({ objects }: PathValue, path: string): void {
  if (objects)
    throw new AppError('invalid_input', `Can't group by "${path}": its values are objects. Name one of its fields.`, {
      field: 'field',
    });
}

/**
 * Returns the group keys of a record's value: the distinct elements of a list, and none for a missing value. An object
 * in a list has its JSON as key.
 */
function toGroupKeys(value: SqlValue, path: PathValue): readonly string[] {
  if (value === null) return [];
  if (!path.list) return [toText(value, path)];
  const elements = (JSON.parse(String(value)) as unknown[]).flat(Infinity);
  return [...new Set(elements.filter((element) => element !== null).map((element) => toText(element, path)))];
}

const toText = (value: unknown, { boolean }: PathValue): string =>
  boolean ? String(value === 1 || value === true) : isObject(value) ? JSON.stringify(value) : String(value);

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

/** Sorts texts by UTF-16 code unit, as JavaScript compares strings. */
const sortTexts = (texts: Iterable<string>): string[] => [...texts].sort();

function toEdges(nodes: readonly SiteRecord[]): RecordEdge[] {
  return nodes.map((node, index) => ({ node, next: nodes[index + 1] ?? null, previous: nodes[index - 1] ?? null }));
}

interface PageArguments {
  readonly skip?: number | null;
  readonly limit?: number | null;
}

/**
 * Parses `skip` and `limit`, for which null means absent.
 *
 * @throws AppError `invalid_input` for a negative number.
 */
export function parsePage({ skip, limit }: PageArguments): PageRange {
  return { skip: parseCount('skip', skip) ?? 0, limit: parseCount('limit', limit) };
}

function parseCount(name: string, count: number | null | undefined): number | undefined {
  if (count === null || count === undefined) return undefined;
  if (count < 0)
    throw new AppError('invalid_input', `Expected ${name} to be 0 or more; received ${count}.`, { field: name });
  return count;
}

/**
 * Computes the page numbers and counts. Without a limit, the skipped records are one page and the remaining records are
 * another. A limit of 0 counts pages in the same way, as it would fill none.
 */
export function pageInfo({ skip, limit }: PageRange, totalCount: number): PageInfo {
  const rest = Math.max(0, totalCount - skip);
  const before = limit ? Math.ceil(skip / limit) : Math.min(skip, 1);
  return {
    currentPage: before + 1,
    hasNextPage: limit ? skip + limit < totalCount : false,
    hasPreviousPage: before > 0,
    itemCount: Math.min(rest, limit ?? rest),
    pageCount: before + (limit ? Math.ceil((totalCount - skip) / limit) : 1),
    perPage: limit ?? null,
    totalCount,
  };
}
