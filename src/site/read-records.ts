import type { Selection, SelectedColumn, SelectedValue, SiteRecord } from './selection.js';
import { quote } from './sql.js';
import type { SqlValue } from './sql.js';

type Build = (row: readonly SqlValue[]) => unknown;

/** How to read records of one selection: the columns to ask for, and what each row becomes. */
export interface RecordReader {
  /** SQL expressions on the row called `alias`, joined by commas. */
  readonly select: string;
  /** The names that `select` gives its columns. */
  readonly names: () => string;
  /** Whether JSON text of the columns says the same; SQLite writes floats with 15 digits. */
  readonly isJsonExact: boolean;
  /** Where a column that relations are found by stands in the row. */
  keyIndex(column: string): number;
  toRecord(row: readonly SqlValue[]): SiteRecord;
}

/** @param keys Columns to read beside those of the selection. */
export function recordReader(kind: string, selection: Selection, keys: readonly string[], alias: string): RecordReader {
  const expressions: string[] = [];
  const indexes = new Map<string, number>();
  const read = (expression: string): number => {
    const index = indexes.get(expression) ?? expressions.push(expression) - 1;
    indexes.set(expression, index);
    return index;
  };
  const column = (name: string): number => read(`${alias}.${quote(name)}`);
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

/** The place of a value that is taken as it is, or what makes it of the row. */
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
