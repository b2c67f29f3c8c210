/** Queries that are run for several at once: most of what a small one takes is its way to the database and back. */
import { sql } from 'kysely';
import type { Expression, Kysely } from 'kysely';
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
 * Prepares a query that is run for several at once, each with its own rows. They
 * go in as few statements as their number has binary digits, so that only some
 * statements are ever put together.
 *
 * @param build As for `prepare`.
 */
export function prepareEach<Given extends object, Row>(
  build: (database: Database, given: Given) => Expression<Row>,
): PreparedEach<Given, Row> {
  const some = bySize((size) =>
    prepare<Values, Row & { readonly place: number }>((database, standIns) => {
      const parts = Array.from({ length: size }, (_none, place) => {
        const given = new Proxy({} as Given, { get: (_target, name) => standIns[toName(place, name)] });
        return sql`select ${sql.lit(place)} as place, one.* from (${build(database, given)}) as one`;
      });
      const all = sql<Row & { readonly place: number }>`${sql.join(parts, sql` union all `)}`;
      return { compile: () => all.compile(database) };
    }),
  );
  return async (database, givens) => {
    const groups: Row[][] = givens.map(() => []);
    for (const [start, together] of split(givens)) {
      const rows = await some(together.length)(database, toValues(together));
      for (const row of rows) groups[start + row.place]?.push(row);
    }
    return groups;
  };
}

/** Prepares what adds rows of the same columns to a table. */
export function prepareInserts<Table extends keyof Tables>(
  table: Table,
  columns: readonly (keyof Tables[Table] & string)[],
): (database: Database, rows: readonly Tables[Table][]) => Promise<void> {
  const some = bySize((size) =>
    prepare<Values, unknown>((database, standIns) => {
      const rows = Array.from({ length: size }, (_none, place) =>
        Object.fromEntries(columns.map((column) => [column, standIns[toName(place, column)]])),
      );
      // Which table it is makes no difference here.
      return (database as unknown as Kysely<Record<string, Values>>).insertInto(table).values(rows);
    }),
  );
  return async (database, rows) => {
    for (const [, together] of split(rows)) await some(together.length)(database, toValues(together));
  };
}

function bySize<Row>(prepareSome: (size: number) => Prepared<Values, Row>): (size: number) => Prepared<Values, Row> {
  const known = new Map<number, Prepared<Values, Row>>();
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
