import type { AstralColumns } from './astral-columns.js';
import type { Column } from './columns.js';
import type { SqlValue } from './sql.js';
import { quote } from './sql.js';
import type { Statements } from './statements.js';
import { hasAstral } from './text-order.js';

/** Changes records inside one transaction. */
export class RecordWriter {
  readonly #statements: Statements;
  readonly #columns: ReadonlyMap<string, readonly Column[]>;
  readonly #astral: AstralColumns;
  readonly #inserts = new Map<string, string>();

  constructor(statements: Statements, columns: ReadonlyMap<string, readonly Column[]>, astral: AstralColumns) {
    this.#statements = statements;
    this.#columns = columns;
    this.#astral = astral;
  }

  /**
   * Inserts or replaces the record of that id. `row` is flat by column; absent
   * columns are null. `position` gives creation order.
   *
   * @throws Error when the row has a column that its kind has not, or a value that is no text, number or null.
   */
  put(kind: string, row: Readonly<Record<string, SqlValue>>, position: number): void {
    const columns = this.#columnsOf(kind);
    const values: SqlValue[] = [position];
    let used = 0;
    for (const { name } of columns) {
      const value = row[name];
      if (value !== undefined) used += 1;
      values.push(this.#check(kind, name, value ?? null));
    }
    if (used !== countDefined(row)) refuseUnknown(kind, row, columns);
    this.#statements.run(this.#insert(kind, columns), values);
  }

  remove(kind: string, id: string): void {
    this.#statements.run(`DELETE FROM ${quote(kind)} WHERE id = ?`, [id]);
  }

  setMeta(key: string, value: string): void {
    this.#statements.run('INSERT OR REPLACE INTO "~meta" (key, value) VALUES (?, ?)', [key, value]);
  }

  #columnsOf(kind: string): readonly Column[] {
    const columns = this.#columns.get(kind);
    if (!columns) throw new Error(`There is no record kind ${kind}.`);
    return columns;
  }

  #check(kind: string, column: string, value: SqlValue): SqlValue {
    if (typeof value === 'string') {
      if (hasAstral(value)) this.#astral.add(kind, column);
    } else if (value !== null && typeof value !== 'number') {
      throw new TypeError(`Expected text, a number or null in ${kind}.${column}; received ${typeof value}.`);
    }
    return value;
  }

  #insert(kind: string, columns: readonly Column[]): string {
    const known = this.#inserts.get(kind);
    if (known !== undefined) return known;
    const names = ['position', ...columns.map(({ name }) => name)];
    const text = `INSERT OR REPLACE INTO ${quote(kind)} (${names.map(quote).join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
    this.#inserts.set(kind, text);
    return text;
  }
}

function countDefined(row: Readonly<Record<string, SqlValue>>): number {
  let count = 0;
  for (const name in row) if (row[name] !== undefined) count += 1;
  return count;
}

function refuseUnknown(kind: string, row: Readonly<Record<string, SqlValue>>, columns: readonly Column[]): void {
  const names = new Set(columns.map(({ name }) => name));
  const unknown = Object.keys(row).filter((name) => row[name] !== undefined && !names.has(name) && name !== 'position');
  if (unknown.length > 0) throw new Error(`${kind} has no column ${unknown.join(', ')}.`);
}
