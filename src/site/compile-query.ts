import { AppError } from '../core/errors.js';
import { compileFilter } from './compile-filter.js';
import type { RecordFilter } from './compile-filter.js';
import type { PathValue } from './compile-path.js';
import { compilePath } from './compile-path.js';
import { compileSort, isIndexable, orderBy } from './compile-sort.js';
import type { RecordSort, SortKey } from './compile-sort.js';
import type { IndexAdvisor } from './indexes/index-advisor.js';
import { toIndexKey } from './indexes/index-definition.js';
import type { IndexKey } from './indexes/index-definition.js';
import { IndexCandidates } from './indexes/index-candidates.js';
import type { PageRange } from './paging.js';
import type { CompileContext, FieldScope } from './scope.js';
import { rowScope, getTable } from './scope.js';
import { ALWAYS, and, sqlTemplate, NEVER, quoteIdentifier, sql } from './sql.js';
import type { Sql } from './sql.js';

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
  readonly scope: FieldScope;
  readonly context: CompileContext;
  /** Whether the rows are selected by position, so that no index is needed. */
  readonly isNarrow: boolean;
  readonly made: Made;
}

/** The parts of a query's statements that are built once and reused, as queries repeat more often than they change. */
interface Made {
  order?: Sql;
  /** `undefined` if no index would help. */
  indexes?: { readonly page: IndexKey | undefined; readonly count: IndexKey | undefined };
  /** The texts of {@link pageStatement}, by selection, then by limit and index. */
  readonly texts: Map<string, Map<string, string>>;
}

export function compileQuery(
  kind: string,
  { filter, sort }: { filter?: RecordFilter | null; sort?: RecordSort | null },
  context: CompileContext,
): CompiledQuery {
  const scope = rowScope(getTable(kind, context), ROW, context);
  const hints = new IndexCandidates();
  const condition = compileFilter(filter, scope, context, hints);
  const keys = compileSort(sort, scope, context);
  const where = context.isExpensive ? and([sql('in_time()'), condition]) : condition;
  assertValueLimit(where);
  return {
    kind,
    where,
    sort: keys,
    hints,
    scope,
    context,
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
  return sqlTemplate(`SELECT count(*) ${fromClause(query.kind, index)}%`, whereClause(query.where));
}

/** Returns a statement for the values of a path among all matches, each with its number of occurrences. */
export function tallyStatement(query: CompiledQuery, value: PathValue): Sql {
  const from = sqlTemplate(`FROM ${quoteIdentifier(query.kind)} AS ${ROW}%`, whereClause(query.where));
  return sqlTemplate('SELECT % AS value, count(*) % GROUP BY 1', value.expression, from);
}

export const compileValue = (query: CompiledQuery, path: string): PathValue =>
  compilePath(path, query.scope, query.context);

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
    sort: sort.map(({ value, descending }) => ({ column: value.column ?? '', descending, nullable: value.nullable })),
    read: [...hints.read],
  });
}

function countIndex({ kind, hints: { equal, read } }: CompiledQuery): IndexKey | undefined {
  const sort = [...read].map((column) => ({ column, descending: false, nullable: false }));
  return toIndexKey({ kind, equal: [...equal], sort, read: [] });
}
