import { AppError } from '@trellis/core/errors';
import { ALWAYS, and, NEVER, quoteIdentifier, sql, type Sql, sqlTemplate, type SqlValue } from '../records/sql.js';
import { compileFilter, IndexCandidates } from './compile-filter.js';
import type { IndexAdvisor, IndexKey } from './index-advisor.js';
import { absenceTerm, compilePath, compileSort, isIndexable, orderBy, type PathValue, type SortKey } from './paths.js';
import type { RecordQuery } from './record-queries.js';
import { type CompileContext, type FieldScope, getTable, rowScope } from './scope.js';
import { parseSearch, type RecordSearch, searchCondition, searchOrder } from './search.js';

/** A statement on the matches of a query, and a function that builds it for the same query with known matches. */
export interface QueryStatement {
  readonly query: CompiledQuery;
  readonly sql: Sql;
  readonly build: (query: CompiledQuery) => Sql;
}

export const toStatement = (query: CompiledQuery, build: QueryStatement['build']): QueryStatement => ({
  query,
  sql: build(query),
  build,
});

/** The records to skip, and the number of records after them. */
export interface PageRange {
  readonly skip: number;
  /** `undefined` means no limit. */
  readonly limit: number | undefined;
}

/** The alias of the queried rows. */
const ROW = 't';

/** SQLite accepts 32,766 values in one statement; the remainder is for the sort and the page. */
const MAX_VALUES = 32_000;

/** A compiled filter and sort, shared by the statements for rows, counts and values. */
export interface CompiledQuery {
  readonly kind: string;
  readonly where: Sql;
  readonly sort: readonly SortKey[];
  readonly hints: IndexCandidates;
  /** Whether an index alone finds the matches, without further conditions. */
  readonly coversFilter: boolean;
  readonly scope: FieldScope;
  readonly context: CompileContext;
  readonly search: RecordSearch | undefined;
  /** Whether the rows are selected by position, so that no index is needed. */
  readonly isNarrow: boolean;
  readonly made: Made;
}

/** The parts of a query's statements that are built once and reused, as queries repeat more often than they change. */
interface Made {
  order?: Sql;
  /** Whether the first records in the order of the sort had too few matches for a page. */
  isRare?: boolean;
  /** `undefined` if no index would help. */
  indexes?: { readonly page: IndexKey | undefined; readonly count: IndexKey | undefined };
  /** The texts of {@link pageStatement}, by selection, then by limit and index. */
  readonly texts: Map<string, Map<string, string>>;
}

export function compileQuery(
  kind: string,
  { filter, sort, search: text }: Pick<RecordQuery, 'filter' | 'search' | 'sort'>,
  context: CompileContext,
): CompiledQuery {
  const scope = rowScope(getTable(kind, context), ROW, context);
  const hints = new IndexCandidates();
  const search = parseSearch(kind, text, context);
  if (search) hints.hasOtherConditions = true;
  const filtered = compileFilter(filter, scope, context, hints);
  const condition = search ? and([searchCondition(search), filtered]) : filtered;
  const sorted = compileSort(sort, scope, context);
  const keys = search && sorted.length === 0 ? [searchOrder(search)] : sorted;
  const where = context.isExpensive ? and([sql('in_time()'), condition]) : condition;
  assertValueLimit(where);
  return {
    kind,
    where,
    sort: keys,
    hints,
    coversFilter: hints.read.size === 0 && !hints.hasOtherConditions,
    scope,
    context,
    search,
    isNarrow: false,
    made: { texts: new Map() },
  };
}

function assertValueLimit({ values }: Sql): void {
  if (values.length > MAX_VALUES) {
    throw new AppError(
      'invalid_input',
      `Expected a filter with at most ${MAX_VALUES} values, each list rounded up to a power of two; received ${values.length}.`,
    );
  }
}

/** Returns the `SELECT` of a page's rows in order. It forces an index if one was created for this shape. */
export function pageStatement(query: CompiledQuery, select: string, page: PageRange, advisor?: IndexAdvisor): Sql {
  const { where, made, isNarrow, sort } = query;
  const isBounded = page.limit !== undefined || page.skip > 0;
  const index = page.limit === undefined || isNarrow ? undefined : advisor?.advise(indexesOf(query).page);
  const order = (made.order ??= orderBy(sort, ROW));
  const texts = made.texts.get(select) ?? new Map<string, string>();
  made.texts.set(select, texts);
  const rest = isBounded ? `${LIMITED} ${index ?? ''}` : '';
  let text = texts.get(rest);
  if (text === undefined) {
    text = `SELECT ${select} ${fromClause(query.kind, index)}${whereClause(where).text} ${order.text}${isBounded ? LIMITED : ''}`;
    texts.set(rest, text);
  }
  const bounds = isBounded ? [page.limit ?? -1, page.skip] : [];
  return { text, values: [...where.values, ...order.values, ...bounds] };
}

/** With a bare `LIMIT ?`, SQLite would plan the statement again for each number. */
const LIMITED = ' LIMIT +? OFFSET +?';

/** Returns a statement for the positions of up to `most` + 1 matches, unordered; one more than `most` means too many. */
export function probeStatement({ kind, where }: CompiledQuery, most: number): Sql {
  return sqlTemplate(`SELECT position ${fromClause(kind, undefined)}% LIMIT ${most + 1}`, whereClause(where));
}

/** Returns the same query on rows with known positions, given as a JSON list. */
export function restrictToPositions(query: CompiledQuery, positions: string): CompiledQuery {
  const where = sql(`${ROW}.position IN (SELECT value FROM json_each(?))`, positions);
  return { ...query, where, isNarrow: true, made: { texts: new Map() } };
}

export function countStatement(query: CompiledQuery, advisor?: IndexAdvisor): Sql {
  const isPlain = query.where === ALWAYS || query.isNarrow;
  const index = isPlain ? undefined : advisor?.advise(indexesOf(query).count);
  const { equal, listed, read } = query.hints;
  // SQLite assumes that ranges are narrow. Looking up the rows of a wide one takes ten times as long as reading all.
  const isRead = !isPlain && index === undefined && equal.size + listed.size === 0 && read.size > 1;
  const from = isRead ? `FROM ${quoteIdentifier(query.kind)} AS ${ROW} NOT INDEXED` : fromClause(query.kind, index);
  return sqlTemplate(`SELECT count(*) ${from}%`, whereClause(query.where));
}

/** Returns a statement for the values of a path among all matches, each with its number of occurrences. */
export function tallyStatement(query: CompiledQuery, value: PathValue): Sql {
  const from = sqlTemplate(`FROM ${quoteIdentifier(query.kind)} AS ${ROW}%`, whereClause(query.where));
  return sqlTemplate('SELECT % AS value, count(*) % GROUP BY 1', value.expression, from);
}

/** Returns a statement for the columns of the first row with these values. */
export function firstRowStatement(
  { kind, columns, values }: { kind: string; columns: readonly string[]; values: Readonly<Record<string, SqlValue>> },
  advisor: IndexAdvisor,
): Sql {
  const names = Object.keys(values);
  const index = advisor.advise(toIndexKey({ kind, equal: names, sort: [], read: [] }));
  const select = columns.map(quoteIdentifier).join(', ');
  const conditions = names.map((name) => `${quoteIdentifier(name)} = ?`).join(' AND ');
  const text = `SELECT ${select} ${fromClause(kind, index)} WHERE ${conditions} ORDER BY position LIMIT 1`;
  return { text, values: Object.values(values) };
}

/** Returns the query restricted to the records with this value, for which an index with the sort is created. */
export function restrictToValue(query: CompiledQuery, column: string, value: SqlValue): CompiledQuery {
  const hints = new IndexCandidates();
  for (const one of [...query.hints.equal, column]) hints.equal.add(one);
  const equal = sql(`${ROW}.${quoteIdentifier(column)} = ?`, value);
  return { ...query, where: and([query.where, equal]), hints, coversFilter: true, made: { texts: new Map() } };
}

/** Returns a statement for up to `most` distinct values of an indexed column, which skips equal values in the index. */
export function distinctStatement(kind: string, column: string, index: string, most: number): Sql {
  const [table, value] = [`${quoteIdentifier(kind)} INDEXED BY ${quoteIdentifier(index)}`, quoteIdentifier(column)];
  return sql(
    `WITH RECURSIVE found (value) AS (SELECT min(${value}) FROM ${table} UNION ALL` +
      ` SELECT (SELECT min(${value}) FROM ${table} WHERE ${value} > found.value) FROM found WHERE found.value IS NOT NULL` +
      ` LIMIT ${most + 1}) SELECT value FROM found WHERE value IS NOT NULL`,
  );
}

export const compileValue = (query: CompiledQuery, path: string): PathValue =>
  compilePath(path, query.scope, query.context);

/** Returns the index that serves a page of this query alone, if it exists. */
const findPageIndex = (query: CompiledQuery, advisor: IndexAdvisor): string | undefined =>
  advisor.find(indexesOf(query).page);

/** Counts the time of a page that was found without the index of its query, which would have tested no other rows. */
export function countNearTime(query: CompiledQuery, advisor: IndexAdvisor, milliseconds: number): void {
  const testsOthers = query.coversFilter && query.hints.equal.size > 0;
  if (testsOthers) advisor.countTime(query.kind, indexesOf(query).page, milliseconds);
}

const fromClause = (kind: string, index: string | undefined): string =>
  `FROM ${quoteIdentifier(kind)} AS ${ROW}${index === undefined ? '' : ` INDEXED BY ${quoteIdentifier(index)}`}`;

const whereClause = (where: Sql): Sql => (where === ALWAYS ? sql('') : sqlTemplate(' WHERE %', where));

const indexesOf = (query: CompiledQuery): NonNullable<Made['indexes']> =>
  (query.made.indexes ??= { page: pageIndex(query), count: countIndex(query) });

function pageIndex({ kind, where, sort, hints }: CompiledQuery): IndexKey | undefined {
  if (where === NEVER || !sort.every(isIndexable)) return undefined;
  if (sort.length === 0 && hints.equal.size === 0) return undefined;
  return toIndexKey({
    kind,
    equal: [...hints.equal],
    sort: sort.map(({ value, descending }) => ({
      column: value.column ?? '',
      descending,
      nullable: value.nullable,
      isNull: value.isNullInRow,
    })),
    read: [...hints.read],
  });
}

function countIndex({ kind, hints: { equal, read } }: CompiledQuery): IndexKey | undefined {
  const sort = [...read].map((column) => ({ column, descending: false, nullable: false, isNull: undefined }));
  return toIndexKey({ kind, equal: [...equal], sort, read: [] });
}

/** The columns of an index that serves one query shape without sorting or reading other rows. */
interface IndexDefinition {
  readonly kind: string;
  readonly equal: readonly string[];
  readonly sort: readonly SortColumn[];
  readonly read: readonly string[];
}

interface SortColumn {
  readonly column: string;
  readonly descending: boolean;
  readonly nullable: boolean;
  /** The condition that distinguishes null from missing, without an alias. */
  readonly isNull: Sql | undefined;
}

/** Wider indexes cost more to maintain than they save. */
const MAX_COLUMNS = 8;

/** Returns the index for a shape, or `undefined` if no index would help. */
function toIndexKey(shape: IndexDefinition): IndexKey | undefined {
  const columns = indexColumns(shape);
  return columns.length === 0 || columns.length > MAX_COLUMNS
    ? undefined
    : `${quoteIdentifier(shape.kind)} (${columns.join(', ')})`;
}

/** Returns the columns for equality, then those of the sort order, then copies that save reading the row. */
function indexColumns({ equal, sort, read }: IndexDefinition): string[] {
  const sorted = sort.filter(({ column }) => !equal.includes(column));
  const rest = read.filter((column) => !equal.includes(column) && !sorted.some((key) => key.column === column));
  return [
    ...[...equal].sort().map(quoteIdentifier),
    ...sorted.flatMap(sortTerms),
    ...(rest.length > 0 ? ['position', ...[...rest].sort().map(quoteIdentifier)] : []),
  ];
}

/** Returns the same terms that the `ORDER BY` of a query has. */
function sortTerms({ column, descending, nullable, isNull }: SortColumn): string[] {
  const direction = descending ? ' DESC' : '';
  const value = `${quoteIdentifier(column)}${direction}`;
  return nullable ? [absenceTerm(sql(quoteIdentifier(column)), isNull).text + direction, value] : [value];
}

/** The number of records to test in the order of a page before its matches are searched otherwise. Takes about 10 ms. */
const MAX_TESTED = 5000;

/** Further pages would be found among the tested records only if nearly all of them matched. */
const MAX_END = 1000;

/**
 * Returns a statement for the rows of a page among the first records in its order, or `undefined` if no permanent index
 * has this order. Unless matches are rare, it returns a full page and takes the same time for any number of records. A
 * page that is not full may lack matches.
 */
export function nearStatement(
  query: CompiledQuery,
  select: string,
  page: PageRange,
  advisor: IndexAdvisor,
): QueryStatement | undefined {
  const { kind, sort, hints, isNarrow, made } = query;
  if (isNarrow || made.isRare || hints.hasOtherConditions || sort.length > 1) return undefined;
  if (page.limit === undefined || page.skip + page.limit > MAX_END) return undefined;
  const [key] = sort;
  // Equal values are often rare, and an index finds them.
  if (!key && hints.equal.size + hints.listed.size > 0) return undefined;
  // An index that finds the page alone needs no tests.
  if (query.coversFilter && findPageIndex(query, advisor) !== undefined) return undefined;
  const index = key && orderedIndex(kind, key, advisor);
  if (key && index === undefined) return undefined;
  const first = sqlTemplate(
    `SELECT t.position AS place ${fromClause(kind, index)} % LIMIT ${MAX_TESTED}`,
    orderBy(sort, 't'),
  );
  const join = `CROSS JOIN ${quoteIdentifier(kind)} AS t ON t.position = near.place`;
  return toStatement(query, ({ where }) =>
    sqlTemplate(
      `SELECT % FROM (%) AS near ${join}% %`,
      sql(select),
      first,
      whereClause(where),
      sql('LIMIT +? OFFSET +?', page.limit ?? -1, page.skip),
    ),
  );
}

function orderedIndex(kind: string, key: SortKey, advisor: IndexAdvisor): string | undefined {
  const { nullable, column } = key.value;
  return nullable || column === undefined || !isIndexable(key) ? undefined : advisor.findPermanent(kind, column);
}

/** Whether a permanent index finds the values that a filter compares a column with, so that few matches are found at once. */
export const hasIndexedValue = ({ kind, hints }: CompiledQuery, advisor: IndexAdvisor): boolean =>
  [...hints.equal, ...hints.listed].some((column) => advisor.findPermanent(kind, column) !== undefined);
