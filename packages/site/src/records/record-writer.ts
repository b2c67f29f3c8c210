import { ChangedRecords } from '../record-changes.js';
import type { IdIndexes } from './bulk-load.js';
import type { TableColumn } from './record-schema.js';
import { hasNonBmp, quoteIdentifier, type SqlValue, type Statements } from './sql.js';

type Row = Readonly<Record<string, SqlValue>>;

/** A statement and its columns after `position`, in order. */
interface Insert {
  readonly columns: readonly string[];
  readonly text: string;
}

interface Runner {
  readonly columns: readonly string[];
  readonly idIndex: number;
  readonly run: (values: readonly SqlValue[]) => void;
}

interface RecordWriterOptions {
  readonly statements: Statements;
  /** The stored columns of each record type. */
  readonly columns: ReadonlyMap<string, readonly TableColumn[]>;
  readonly ids: Pick<IdIndexes, 'ensure'>;
  /** Called with each column that is written with characters beyond U+FFFF. */
  readonly onNonBmp: (kind: string, column: string) => void;
  /** Called with the position of each written record of type `File`. */
  readonly onFile?: (position: number) => void;
}

/** Changes records inside one transaction. */
export class RecordWriter {
  readonly #statements: Statements;
  readonly #columns: ReadonlyMap<string, readonly TableColumn[]>;
  readonly #ids: RecordWriterOptions['ids'];
  readonly #onNonBmp: RecordWriterOptions['onNonBmp'];
  readonly #onFile: RecordWriterOptions['onFile'];
  /**
   * The insert of each record type for rows with the columns of its first row. Rows with few columns are written faster
   * without binding nulls for the others.
   */
  readonly #usual = new Map<string, Insert>();
  /** The runner of each record type for its latest list of columns. */
  readonly #runners = new Map<string, Runner>();
  /** The records that were put or removed. */
  readonly changed = new ChangedRecords();

  constructor({ statements, columns, ids, onNonBmp, onFile }: RecordWriterOptions) {
    this.#statements = statements;
    this.#columns = columns;
    this.#ids = ids;
    this.#onNonBmp = onNonBmp;
    this.#onFile = onFile;
  }

  /**
   * Inserts or replaces the record with the id of the row. `row` maps columns to values; absent columns are null.
   * `position` defines the creation order. Rows with the same columns in the same order are written fastest.
   *
   * @throws Error for an unknown column; TypeError for a value other than text, a number or null.
   */
  put(kind: string, row: Row, position: number): void {
    this.#ids.ensure(kind);
    this.changed.add(kind, String(row.id));
    if (kind === 'File') this.#onFile?.(position);
    const usual = this.#usual.get(kind) ?? this.#noteUsual(kind, row);
    if (hasColumns(row, usual.columns)) {
      const values = this.#check(kind, usual.columns, Object.values(row));
      this.#statements.run(usual.text, [position, ...values]);
    } else {
      this.#putAny(kind, row, position);
    }
  }

  /**
   * Inserts or replaces a record, given as the values of `columns` in their order. This is the fastest way to write
   * many records, provided that `columns` is the same object each time.
   *
   * @throws Error for an unknown column; TypeError for a value other than text, a number or null.
   */
  insert(kind: string, columns: readonly string[], values: readonly SqlValue[], position: number): void {
    let runner = this.#runners.get(kind);
    if (runner?.columns !== columns) {
      this.#requireColumns(kind, columns);
      this.#ids.ensure(kind);
      runner = {
        columns,
        idIndex: columns.indexOf('id'),
        run: this.#statements.runner(toInsert(kind, columns).text),
      };
      this.#runners.set(kind, runner);
    }
    this.#look(kind, columns, values);
    this.changed.add(kind, String(values[runner.idIndex]));
    if (kind === 'File') this.#onFile?.(position);
    runner.run([position, ...values]);
  }

  remove(kind: string, id: string): void {
    this.#ids.ensure(kind);
    this.changed.add(kind, id);
    this.#statements.run(`DELETE FROM ${quoteIdentifier(kind)} WHERE id = ?`, [id]);
  }

  setMeta(key: string, value: string): void {
    this.#statements.run('INSERT OR REPLACE INTO "~meta" (key, value) VALUES (?, ?)', [key, value]);
  }

  #noteUsual(kind: string, row: Row): Insert {
    const insert = toInsert(kind, this.#knownColumns(kind, row));
    this.#usual.set(kind, insert);
    return insert;
  }

  #putAny(kind: string, row: Row, position: number): void {
    this.#knownColumns(kind, row);
    const { columns, text } = toInsert(kind, this.#columnsOf(kind));
    const values = this.#check(
      kind,
      columns,
      columns.map((column) => row[column]),
    );
    this.#statements.run(text, [position, ...values]);
  }

  #knownColumns(kind: string, row: Row): string[] {
    const names = Object.keys(row).filter((name) => name !== 'position');
    this.#requireColumns(
      kind,
      names.filter((name) => row[name] !== undefined),
    );
    return names;
  }

  #requireColumns(kind: string, names: readonly string[]): void {
    const known = this.#columnsOf(kind);
    const unknown = names.filter((name) => !known.includes(name));
    if (unknown.length > 0) throw new Error(`${kind} has no column ${unknown.join(', ')}.`);
  }

  #columnsOf(kind: string): string[] {
    const columns = this.#columns.get(kind);
    if (!columns) throw new Error(`Unknown record type ${kind}.`);
    return columns.map(({ name }) => name);
  }

  /** Returns the values with null for absent ones. */
  #check(kind: string, columns: readonly string[], values: readonly (SqlValue | undefined)[]): SqlValue[] {
    const checked = values.map((value) => value ?? null);
    this.#look(kind, columns, checked);
    return checked;
  }

  #look(kind: string, columns: readonly string[], values: readonly SqlValue[]): void {
    let text = '';
    for (const [index, value] of values.entries()) {
      if (typeof value === 'string') text += value;
      else if (value !== null && typeof value !== 'number') throwTypeError(kind, columns[index], value);
    }
    // One test of the concatenated text is several times faster, and very few records have such characters.
    if (hasNonBmp(text)) this.#noteAstral(kind, columns, values);
  }

  #noteAstral(kind: string, columns: readonly string[], values: readonly SqlValue[]): void {
    for (const [index, column] of columns.entries()) {
      const value = values[index];
      if (typeof value === 'string' && hasNonBmp(value)) this.#onNonBmp(kind, column);
    }
  }
}

function throwTypeError(kind: string, column = '', value: never): never {
  throw new TypeError(`Expected text, a number or null in ${kind}.${column}; received ${typeof value}.`);
}

function toInsert(kind: string, columns: readonly string[]): Insert {
  const names = ['position', ...columns];
  const text = `INSERT OR REPLACE INTO ${quoteIdentifier(kind)} (${names.map(quoteIdentifier).join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
  return { columns, text };
}

function hasColumns(row: Row, columns: readonly string[]): boolean {
  let count = 0;
  for (const column in row) if (column !== columns[count++]) return false;
  return count === columns.length;
}
