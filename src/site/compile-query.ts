import { AppError } from '../errors.js';
import { compileFilter } from './compile-filter.js';
import type { Filter } from './compile-filter.js';
import type { PathValue } from './compile-path.js';
import { compilePath } from './compile-path.js';
import { compileSort, isIndexable, orderBy } from './compile-sort.js';
import type { Sort, SortKey } from './compile-sort.js';
import type { IndexAdvisor, IndexShape } from './index-advisor.js';
import { IndexHints } from './index-hints.js';
import type { Page } from './paging.js';
import type { CompileContext, Scope } from './scope.js';
import { rowScope, tableOf } from './scope.js';
import { ALWAYS, and, frame, NEVER, quote, sql } from './sql.js';
import type { Sql } from './sql.js';

/** The alias of the rows that a question is about. */
const ROW = 't';

/** SQLite takes 32,766 values in one statement; the rest is for the sort and the page. */
const MAX_VALUES = 32_000;

/** A filter and a sort compiled once; the statements for rows, counts and values share them. */
export interface CompiledQuery {
  readonly kind: string;
  readonly where: Sql;
  readonly sort: readonly SortKey[];
  readonly hints: IndexHints;
  readonly scope: Scope;
  readonly context: CompileContext;
  /** Whether the rows are named one by one, so that an index over all would be a detour. */
  readonly isNarrow: boolean;
  /** Texts of {@link pageStatement} that were put together before. */
  readonly texts: Map<string, string>;
}

export function compileQuery(
  kind: string,
  { filter, sort }: { filter?: Filter | null; sort?: Sort | null },
  context: CompileContext,
): CompiledQuery {
  const scope = rowScope(tableOf(kind, context), ROW, context);
  const hints = new IndexHints();
  const condition = compileFilter(filter, scope, context, hints);
  const keys = compileSort(sort, scope, context);
  const where = context.isLaborious ? and([sql('in_time()'), condition]) : condition;
  requireFewValues(where);
  return {
    kind,
    where,
    sort: keys,
    hints,
    scope,
    context,
    isNarrow: false,
    texts: new Map(),
  };
}

function requireFewValues({ values }: Sql): void {
  if (values.length > MAX_VALUES) {
    throw new AppError(
      'invalid_input',
      `Expected a filter that compares with at most ${MAX_VALUES} values in all, lists rounded up to powers of two; received ${values.length}.`,
    );
  }
}

/** `SELECT` of a page's rows in order. An index is forced when one was made for just this shape. */
export function pageStatement(
  query: CompiledQuery,
  select: string,
  { skip, limit }: Page,
  advisor?: IndexAdvisor,
): Sql {
  const index = limit === undefined || query.isNarrow ? undefined : advise(query, advisor);
  const bounds = limit === undefined && skip === 0 ? [] : [limit ?? -1, skip];
  const order = orderBy(query.sort, ROW);
  const key = `${bounds.length} ${index ?? ''} ${select}`;
  let text = query.texts.get(key);
  if (text === undefined) {
    const end = bounds.length > 0 ? ' LIMIT ? OFFSET ?' : '';
    text = `SELECT ${select} ${fromClause(query.kind, index)}${whereClause(query.where).text} ${order.text}${end}`;
    query.texts.set(key, text);
  }
  return { text, values: [...query.where.values, ...order.values, ...bounds] };
}

/** The positions of the first matches, in no order, one more than are of use. */
export function probeStatement({ kind, where }: CompiledQuery, most: number): Sql {
  return frame(`SELECT position ${fromClause(kind, undefined)}% LIMIT ${most + 1}`, whereClause(where));
}

/** The same question about rows whose positions are known. */
export function narrowTo(query: CompiledQuery, positions: string): CompiledQuery {
  const where = sql(`${ROW}.position IN (SELECT value FROM json_each(?))`, positions);
  return { ...query, where, isNarrow: true, texts: new Map() };
}

export function countStatement(query: CompiledQuery, advisor?: IndexAdvisor): Sql {
  const { equal, read } = query.hints;
  const shape: IndexShape = {
    kind: query.kind,
    equal: [...equal],
    sort: [...read].map((column) => ({ column, descending: false, nullable: false })),
    read: [],
  };
  const index = query.where === ALWAYS ? undefined : advisor?.advise(shape);
  return frame(`SELECT count(*) ${fromClause(query.kind, index)}%`, whereClause(query.where));
}

/** Every value of a path among all matches, each with how often it occurs. */
export function tallyStatement(query: CompiledQuery, value: PathValue): Sql {
  const from = frame(`FROM ${quote(query.kind)} AS ${ROW}%`, whereClause(query.where));
  return frame('SELECT % AS value, count(*) % GROUP BY 1', value.expression, from);
}

export const compileValue = (query: CompiledQuery, path: string): PathValue =>
  compilePath(path, query.scope, query.context);

const fromClause = (kind: string, index: string | undefined): string =>
  `FROM ${quote(kind)} AS ${ROW}${index === undefined ? '' : ` INDEXED BY ${quote(index)}`}`;

const whereClause = (where: Sql): Sql => (where === ALWAYS ? sql('') : frame(' WHERE %', where));

function advise({ kind, where, sort, hints }: CompiledQuery, advisor: IndexAdvisor | undefined): string | undefined {
  if (!advisor || where === NEVER || !sort.every(isIndexable)) return undefined;
  if (sort.length === 0 && hints.equal.size === 0) return undefined;
  return advisor.advise({
    kind,
    equal: [...hints.equal],
    sort: sort.map(({ value, descending }) => ({ column: value.column ?? '', descending, nullable: value.nullable })),
    read: [...hints.read],
  });
}
