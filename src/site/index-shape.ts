import { quote } from './sql.js';

/** The columns of an index that would answer one shape of question without sorting or reading other rows. */
export interface IndexShape {
  readonly kind: string;
  readonly equal: readonly string[];
  readonly sort: readonly { readonly column: string; readonly descending: boolean; readonly nullable: boolean }[];
  readonly read: readonly string[];
}

/** A table and the terms of an index on it, as `CREATE INDEX` takes them. */
export type IndexKey = string;

/** Wider indexes cost more to keep than the rows they save. */
const MAX_COLUMNS = 8;

/** The index of a shape; `undefined` when none would be of use. */
export function indexKey(shape: IndexShape): IndexKey | undefined {
  const columns = indexColumns(shape);
  return columns.length === 0 || columns.length > MAX_COLUMNS
    ? undefined
    : `${quote(shape.kind)} (${columns.join(', ')})`;
}

/** What is compared for equality narrows first, then comes the order with its ties, then copies to test without reading the row. */
function indexColumns({ equal, sort, read }: IndexShape): string[] {
  const sorted = sort.filter(({ column }) => !equal.includes(column));
  const rest = read.filter((column) => !equal.includes(column) && !sorted.some((key) => key.column === column));
  return [
    ...[...equal].sort().map(quote),
    ...sorted.flatMap(sortTerms),
    ...(rest.length > 0 ? ['position', ...[...rest].sort().map(quote)] : []),
  ];
}

/** The same terms that a question is sorted by. */
function sortTerms({ column, descending, nullable }: IndexShape['sort'][number]): string[] {
  const direction = descending ? ' DESC' : '';
  const value = `${quote(column)}${direction}`;
  return nullable ? [`${quote(column)} IS NULL${direction}`, value] : [value];
}
