import type { RecordSelection, SelectedColumn, SelectedValue, SiteRecord } from './selection.js';
import { quoteIdentifier } from './sql.js';
import type { SqlValue } from './sql.js';

type Build = (row: readonly SqlValue[]) => unknown;

/** Reads the records of one selection: names the columns to select and converts each row. */
export interface RecordReader {
  /** The SQL expressions on the row `alias`, joined by commas. */
  readonly select: string;
  /** Returns the names of the columns of `select`. */
  readonly names: () => string;
  /** Whether JSON preserves all values. Floats lose precision, as SQLite writes them with 15 digits. */
  readonly isJsonExact: boolean;
  /** Returns the index in the row of a key column of a relation. */
  keyIndex(column: string): number;
  toRecord(row: readonly SqlValue[]): SiteRecord;
}

/** @param keys Columns to read in addition to those of the selection. */
export function recordReader(
  kind: string,
  selection: RecordSelection,
  keys: readonly string[],
  alias: string,
): RecordReader {
  const expressions: string[] = [];
  const indexes = new Map<string, number>();
  const read = (expression: string): number => {
    const index = indexes.get(expression) ?? expressions.push(expression) - 1;
    indexes.set(expression, index);
    return index;
  };
  const column = (name: string): number => read(`${alias}.${quoteIdentifier(name)}`);
  for (const key of keys) column(key);
  const builds = selection.values.map((value) => [value.name, buildValue(value, column, read)] as const);
  if (expressions.length === 0) column('position');
  const plain = builds.filter((entry): entry is readonly [string, number] => typeof entry[1] === 'number');
  const made = builds.filter((entry): entry is readonly [string, Build] => typeof entry[1] !== 'number');
  return {
    select: expressions.map((expression, index) => `${expression} AS c${index}`).join(', '),
    names: () => expressions.map((_, index) => `c${index}`).join(', '),
    isJsonExact: !selection.values.some(holdsFloat),
    keyIndex: column,
    toRecord(row) {
      const record: SiteRecord = { __typename: kind };
      for (const [name, index] of plain) record[name] = row[index];
      for (const [name, build] of made) record[name] = build(row);
      return record;
    },
  };
}

const holdsFloat = (value: SelectedValue): boolean =>
  value.kind === 'object' ? value.values.some(holdsFloat) : value.holds === 'float';

/** Returns the index of a value that needs no conversion, otherwise the function that builds it from the row. */
function buildValue(
  value: SelectedValue,
  column: (name: string) => number,
  read: (expression: string) => number,
): number | Build {
  if (value.kind === 'column') return buildColumn(value, column(value.column));
  const parts = value.values.map((part) => [part.name, buildValue(part, column, read)] as const);
  const isPresent = value.presence.map(column);
  return (row) => {
    if (isPresent.length > 0 && isPresent.every((index) => row[index] === null)) return null;
    const object: SiteRecord = {};
    for (const [name, build] of parts) object[name] = typeof build === 'number' ? row[build] : build(row);
    return object;
  };
}

function buildColumn({ holds }: SelectedColumn, index: number): number | Build {
  if (holds === 'value' || holds === 'float') return index;
  if (holds === 'boolean') return (row) => (row[index] === null ? null : row[index] === 1);
  return (row) => (row[index] === null ? null : (JSON.parse(row[index] as string) as unknown));
}
