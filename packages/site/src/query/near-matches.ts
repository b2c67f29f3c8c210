import { quoteIdentifier, sql, sqlTemplate } from '../records/sql.js';
import {
  type CompiledQuery,
  findPageIndex,
  fromClause,
  type PageRange,
  type QueryStatement,
  toStatement,
  whereClause,
} from './compile-query.js';
import type { IndexAdvisor } from './index-advisor.js';
import { isIndexable, orderBy, type SortKey } from './paths.js';

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
  const index = key && orderedIndex(kind, key, advisor);
  if (key && index === undefined) return undefined;
  // An index that finds the page alone needs no tests.
  if (hints.coversFilter && findPageIndex(query, advisor) !== undefined) return undefined;
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
