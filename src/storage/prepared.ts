import type { Compilable, CompiledQuery, Expression, Kysely, RawBuilder } from 'kysely';
import { type Database, isPostgres } from './database.js';
import { sql } from './kysely.js';
import { keepStatement } from './postgres.js';
import type { Tables } from './tables.js';

/** A query that is compiled once, because compiling takes longer than running most queries. */
type PreparedQuery<Input, Row> = (database: Database, input: Input) => Promise<Row[]>;

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
    const query = (compiled[isPostgres(database) ? 'postgres' : 'sqlite'] ??= compile(database, build, placeholders));
    const parameters = query.parameters.map((value) =>
      value instanceof Parameter ? input[value.name as keyof Input] : value,
    );
    const { rows } = await database.executeQuery<Row>({ ...query, parameters });
    return rows;
  };
}

function compile<Input, Row>(
  database: Database,
  build: (database: Database, input: Input) => Compilable<Row>,
  placeholders: Input,
): CompiledQuery<Row> {
  const query = build(database, placeholders).compile();
  if (isPostgres(database)) keepStatement(query.sql);
  return query;
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

/** Prepared queries for batches of inputs. Most of the time of a small query is the round trip to the database. */

/** The largest batch of one SQLite statement. Larger ones save no measurable time. */
const MAX_BATCH = 32;

/** Returns the rows for each input, in the order of the inputs. */
type PreparedBatch<Input, Row> = (database: Database, inputs: readonly Input[]) => Promise<Row[][]>;

type Values = Readonly<Record<string, unknown>>;

/**
 * Prepares a query for a batch of inputs, with separate rows for each. PostgreSQL runs one statement. SQLite runs
 * statements whose sizes are powers of two, so that few distinct statements are compiled.
 *
 * @param build Builds the query, as for `prepare`.
 */
export function prepareBatch<Input extends Readonly<Record<keyof Input, string>>, Row>(
  build: (database: Database, input: Input) => Expression<Row>,
): PreparedBatch<Input, Row> {
  const onPostgres = prepare<{ readonly inputs: string }, Placed<Row>>((database, { inputs }) =>
    compilable(
      database,
      selectForEach(inputs, (input) => build(database, input as Input)),
    ),
  );
  const onSqlite = bySize((size) =>
    prepare<Values, Placed<Row>>((database, placeholders) => {
      const parts = Array.from({ length: size }, (_none, place) => {
        const input = new Proxy({} as Input, { get: (_target, name) => placeholders[toName(place, name)] });
        return sql`select ${sql.lit(place)} as place, one.* from (${build(database, input)}) as one`;
      });
      return compilable(database, sql<Placed<Row>>`${sql.join(parts, sql` union all `)}`);
    }),
  );
  return async (database, inputs) => {
    const groups: Row[][] = inputs.map(() => []);
    const add = (rows: readonly Placed<Row>[], start = 0) => {
      for (const row of rows) groups[start + row.place]?.push(row);
    };
    if (inputs.length === 0) return groups;
    if (isPostgres(database)) add(await onPostgres(database, { inputs: toPlacedJson(inputs) }));
    else {
      for (const [start, some] of split(inputs)) add(await onSqlite(some.length)(database, toValues(some)), start);
    }
    return groups;
  };
}

/** A row with the index of its input. */
type Placed<Row> = Row & { readonly place: number };

const toPlacedJson = (inputs: readonly object[]): string =>
  JSON.stringify(inputs.map((input, place) => ({ ...input, place })));

/** Builds a join of a table with the inputs and the query, which runs for each row of that table. */
function selectForEach<Row>(inputs: string, build: (input: object) => Expression<Row>) {
  const names = new Set<string>();
  const columns = new Proxy(
    {},
    {
      get(_target, name) {
        names.add(String(name));
        return sql.ref(`inputs.${String(name)}`);
      },
    },
  );
  const each = build(columns);
  const types = sql.join([sql`place integer`, ...[...names].map((name) => sql`${sql.id(name)} text`)]);
  return sql<Placed<Row>>`select inputs.place, one.* from json_to_recordset(${inputs}) as inputs(${types})
    cross join lateral (${each}) as one`;
}

const compilable = <Row>(database: Database, query: RawBuilder<Row>): Compilable<Row> => ({
  compile: () => query.compile(database),
});

/** The columns whose values JSON can represent. */
type Plain<Row> = { [Column in keyof Row]: Row[Column] extends number | string | null ? Column : never }[keyof Row];

/**
 * Prepares inserts of rows with the same columns: one statement on PostgreSQL, and like {@link prepareBatch} on SQLite.
 */
export function prepareInserts<Table extends keyof Tables>(
  table: Table,
  columns: readonly (Plain<Tables[Table]> & string)[],
): (database: Database, rows: readonly Tables[Table][]) => Promise<void> {
  const names = sql.join(columns.map((column) => sql.id(column)));
  const onPostgres = prepare<{ readonly rows: string }, unknown>((database, { rows }) =>
    compilable(
      database,
      sql`insert into ${sql.table(table)} (${names})
        select ${names} from json_populate_recordset(null::${sql.table(table)}, ${rows})`,
    ),
  );
  const onSqlite = bySize((size) =>
    prepare<readonly unknown[], unknown>((database, placeholders) => {
      const rows = Array.from({ length: size }, (_none, place) =>
        Object.fromEntries(columns.map((column, index) => [column, placeholders[place * columns.length + index]])),
      );
      // The concrete table is irrelevant for the types here.
      return (database as unknown as Kysely<Record<string, Values>>).insertInto(table).values(rows);
    }),
  );
  return async (database, rows) => {
    if (rows.length === 0) return;
    if (isPostgres(database)) await onPostgres(database, { rows: JSON.stringify(rows) });
    else {
      for (const [, some] of split(rows)) {
        const values = some.flatMap((row) => columns.map((column) => row[column]));
        await onSqlite(some.length)(database, values);
      }
    }
  };
}

function bySize<Input, Row>(
  prepareSome: (size: number) => PreparedQuery<Input, Row>,
): (size: number) => PreparedQuery<Input, Row> {
  const known = new Map<number, PreparedQuery<Input, Row>>();
  return (size) => {
    const some = known.get(size) ?? prepareSome(size);
    known.set(size, some);
    return some;
  };
}

/** Splits a list into parts whose lengths are powers of two, each with its start index. */
function* split<T>(all: readonly T[]): Generator<readonly [start: number, part: readonly T[]]> {
  let start = 0;
  while (start < all.length) {
    const size = 2 ** Math.floor(Math.log2(Math.min(all.length - start, MAX_BATCH)));
    yield [start, all.slice(start, start + size)];
    start += size;
  }
}

function toValues(inputs: readonly object[]): Values {
  const values: Record<string, unknown> = {};
  for (const [place, input] of inputs.entries()) {
    for (const [name, value] of Object.entries(input)) values[toName(place, name)] = value as unknown;
  }
  return values;
}

const toName = (place: number, name: PropertyKey): string => `${place} ${String(name)}`;
