/** Queries that are run for several at once: most of what a small one takes is its way to the database and back. */
import { sql } from 'kysely';
import type { Compilable, Expression, Kysely, RawBuilder } from 'kysely';
import { isPostgres } from './database.js';
import type { Database } from './database.js';
import { prepare } from './prepared.js';
import type { Prepared } from './prepared.js';
import type { Tables } from './tables.js';

/** Of one statement: beyond so many, one more saves nothing that could be measured. */
const MAX_TOGETHER = 32;

/** Gives the rows of each in the order in which they were given. */
type PreparedEach<Given, Row> = (database: Database, givens: readonly Given[]) => Promise<Row[][]>;

type Values = Readonly<Record<string, unknown>>;

/**
 * Prepares a query that is run for several at once, each with its own rows: one
 * statement on PostgreSQL; on SQLite as many as their number has binary digits,
 * so that only some are ever put together.
 *
 * @param build As for `prepare`.
 */
export function prepareEach<Given extends Readonly<Record<keyof Given, string>>, Row>(
  build: (database: Database, given: Given) => Expression<Row>,
): PreparedEach<Given, Row> {
  const onPostgres = prepare<{ readonly givens: string }, Placed<Row>>((database, { givens }) =>
    compilable(
      database,
      selectOfAll(givens, (given) => build(database, given as Given)),
    ),
  );
  const onSqlite = bySize((size) =>
    prepare<Values, Placed<Row>>((database, standIns) => {
      const parts = Array.from({ length: size }, (_none, place) => {
        const given = new Proxy({} as Given, { get: (_target, name) => standIns[toName(place, name)] });
        return sql`select ${sql.lit(place)} as place, one.* from (${build(database, given)}) as one`;
      });
      return compilable(database, sql<Placed<Row>>`${sql.join(parts, sql` union all `)}`);
    }),
  );
  return async (database, givens) => {
    const groups: Row[][] = givens.map(() => []);
    const add = (rows: readonly Placed<Row>[], start = 0) => {
      for (const row of rows) groups[start + row.place]?.push(row);
    };
    if (givens.length === 0) return groups;
    if (isPostgres(database)) add(await onPostgres(database, { givens: toPlacedJson(givens) }));
    else {
      for (const [start, some] of split(givens)) add(await onSqlite(some.length)(database, toValues(some)), start);
    }
    return groups;
  };
}

/** A query's row, and whose it is. */
type Placed<Row> = Row & { readonly place: number };

const toPlacedJson = (givens: readonly object[]): string =>
  JSON.stringify(givens.map((given, place) => ({ ...given, place })));

/** What it is given is a table of its own, of which the query is run for each row. */
function selectOfAll<Row>(givens: string, build: (given: object) => Expression<Row>) {
  const names = new Set<string>();
  const columns = new Proxy(
    {},
    {
      get(_target, name) {
        names.add(String(name));
        return sql.ref(`given.${String(name)}`);
      },
    },
  );
  const each = build(columns);
  const types = sql.join([sql`place integer`, ...[...names].map((name) => sql`${sql.id(name)} text`)]);
  return sql<Placed<Row>>`select given.place, one.* from json_to_recordset(${givens}) as given(${types})
    cross join lateral (${each}) as one`;
}

const compilable = <Row>(database: Database, query: RawBuilder<Row>): Compilable<Row> => ({
  compile: () => query.compile(database),
});

/** What JSON can hold. */
type Plain<Row> = { [Column in keyof Row]: Row[Column] extends number | string | null ? Column : never }[keyof Row];

/** Prepares what adds rows of the same columns to a table: by one statement on PostgreSQL, and as {@link prepareEach} on SQLite. */
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
    prepare<readonly unknown[], unknown>((database, standIns) => {
      const rows = Array.from({ length: size }, (_none, place) =>
        Object.fromEntries(columns.map((column, index) => [column, standIns[place * columns.length + index]])),
      );
      // Which table it is makes no difference here.
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

function bySize<Given, Row>(
  prepareSome: (size: number) => Prepared<Given, Row>,
): (size: number) => Prepared<Given, Row> {
  const known = new Map<number, Prepared<Given, Row>>();
  return (size) => {
    const some = known.get(size) ?? prepareSome(size);
    known.set(size, some);
    return some;
  };
}

/** Into powers of two, each with where it starts. */
function* split<T>(all: readonly T[]): Generator<readonly [start: number, together: readonly T[]]> {
  let start = 0;
  while (start < all.length) {
    const size = 2 ** Math.floor(Math.log2(Math.min(all.length - start, MAX_TOGETHER)));
    yield [start, all.slice(start, start + size)];
    start += size;
  }
}

function toValues(together: readonly object[]): Values {
  const values: Record<string, unknown> = {};
  for (const [place, given] of together.entries()) {
    for (const [name, value] of Object.entries(given)) values[toName(place, name)] = value as unknown;
  }
  return values;
}

const toName = (place: number, name: PropertyKey): string => `${place} ${String(name)}`;
