import type { Compilable, CompiledQuery, Kysely } from 'kysely';
import { isPostgres } from './database.js';
import type { Database } from './database.js';
import type { Tables } from './tables.js';

/** A query that is compiled once, because compiling takes longer than running most queries. */
export type PreparedQuery<Input, Row> = (database: Database, input: Input) => Promise<Row[]>;

/** The placeholder of a value in a compiled query. */
class Parameter {
  readonly name: PropertyKey;

  constructor(name: PropertyKey) {
    this.name = name;
  }
}

/**
 * Prepares a query. It is compiled for each engine on first use.
 *
 * @param build Builds the query. The members of `input` are placeholders, which may only be bound as parameters.
 */
export function prepare<Input extends object, Row>(
  build: (database: Database, input: Input) => Compilable<Row>,
): PreparedQuery<Input, Row> {
  const placeholders = new Proxy({} as Input, { get: (_none, name) => new Parameter(name) });
  const compiled: Partial<Record<'postgres' | 'sqlite', CompiledQuery<Row>>> = {};
  return async (database, input) => {
    const query = (compiled[isPostgres(database) ? 'postgres' : 'sqlite'] ??= build(database, placeholders).compile());
    const parameters = query.parameters.map((value) =>
      value instanceof Parameter ? input[value.name as keyof Input] : value,
    );
    const { rows } = await database.executeQuery<Row>({ ...query, parameters });
    return rows;
  };
}

/** Prepares an insert of one row. Each distinct set of columns is a separate query, so there should be few. */
export function prepareInsert<Table extends keyof Tables>(
  table: Table,
): (database: Database, row: Tables[Table]) => Promise<void> {
  const byColumns = new Map<string, PreparedQuery<Tables[Table], unknown>>();
  return async (database, row) => {
    const columns = Object.keys(row);
    const key = columns.join(' ');
    const insert =
      byColumns.get(key) ?? prepare<Tables[Table], unknown>((on, values) => insertInto(on, table, values, columns));
    byColumns.set(key, insert);
    await insert(database, row);
  };
}

function insertInto(database: Database, table: string, values: object, columns: readonly string[]) {
  const row = Object.fromEntries(columns.map((column) => [column, values[column as keyof typeof values] as unknown]));
  // The concrete table is irrelevant for the types here.
  return (database as unknown as Kysely<Record<string, Record<string, unknown>>>).insertInto(table).values(row);
}
