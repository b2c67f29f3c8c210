import { quoteIdentifier } from '../sql.js';

/** The columns of an index that serves one query shape without sorting or reading other rows. */
export interface IndexDefinition {
  readonly kind: string;
  readonly equal: readonly string[];
  readonly sort: readonly { readonly column: string; readonly descending: boolean; readonly nullable: boolean }[];
  readonly read: readonly string[];
}

/** A table and the terms of an index on it, in the syntax of `CREATE INDEX`. */
export type IndexKey = string;

/** Wider indexes cost more to maintain than they save. */
const MAX_COLUMNS = 8;

/** Returns the index for a shape, or `undefined` if no index would help. */
export function toIndexKey(shape: IndexDefinition): IndexKey | undefined {
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
function sortTerms({ column, descending, nullable }: IndexDefinition['sort'][number]): string[] {
  const direction = descending ? ' DESC' : '';
  const value = `${quoteIdentifier(column)}${direction}`;
  return nullable ? [`${quoteIdentifier(column)} IS NULL${direction}`, value] : [value];
}
