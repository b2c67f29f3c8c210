import type { Compilable, CompiledQuery, Kysely } from 'kysely';
import { isPostgres } from './database.js';
import type { Database } from './database.js';
import type { Tables } from './tables.js';

/** A query that is put together once, and then only run: to put one together takes longer than most take to run. */
export type Prepared<Given, Row> = (database: Database, given: Given) => Promise<Row[]>;

/** Stands for a value until there is one. */
class Parameter {
  readonly name: PropertyKey;

  constructor(name: PropertyKey) {
    this.name = name;
  }
}

/**
 * Prepares a query, for each engine when it is first run there.
 *
 * @param build Puts the query together. What it is given are stand-ins, good
 * for being bound as they are and for nothing else.
 */
export function prepare<Given extends object, Row>(
  build: (database: Database, given: Given) => Compilable<Row>,
): Prepared<Given, Row> {
  const standIns = new Proxy({} as Given, { get: (_none, name) => new Parameter(name) });
  const compiled: Partial<Record<'postgres' | 'sqlite', CompiledQuery<Row>>> = {};
  return async (database, given) => {
    const query = (compiled[isPostgres(database) ? 'postgres' : 'sqlite'] ??= build(database, standIns).compile());
    const parameters = query.parameters.map((value) =>
      value instanceof Parameter ? given[value.name as keyof Given] : value,
    );
    const { rows } = await database.executeQuery<Row>({ ...query, parameters });
    return rows;
  };
}

/** Prepares what adds a row to a table. Rows of other columns are another query each, so they should be few. */
export function prepareInsert<Table extends keyof Tables>(
  table: Table,
): (database: Database, row: Tables[Table]) => Promise<void> {
  const byColumns = new Map<string, Prepared<Tables[Table], unknown>>();
  return async (database, row) => {
    const columns = Object.keys(row);
    const key = columns.join(' ');
    const insert =
      byColumns.get(key) ?? prepare<Tables[Table], unknown>((on, given) => insertInto(on, table, given, columns));
    byColumns.set(key, insert);
    await insert(database, row);
  };
}

function insertInto(database: Database, table: string, given: object, columns: readonly string[]) {
  const row = Object.fromEntries(columns.map((column) => [column, given[column as keyof typeof given] as unknown]));
  // Which table it is makes no difference here.
  return (database as unknown as Kysely<Record<string, Record<string, unknown>>>).insertInto(table).values(row);
}
