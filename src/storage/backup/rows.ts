import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { isPostgres } from '../database.js';
import type { Database } from '../database.js';
import type { TableName } from './backup-tables.js';

/** Small enough for one statement: the engines allow about 32,000 values, and a row has at most 20. */
const BATCH = 500;

export type TableRow = Readonly<Record<string, number | string | Uint8Array | null>>;

/** The size and digest of a copied table. */
export interface TableSummary {
  readonly rows: number;
  /** The SHA-256 of the rows, in the order of the copy. */
  readonly digest: string;
}

/** Reads a table in batches, in a transaction that reads from a snapshot. */
export function readRows(transaction: Database, table: TableName): AsyncGenerator<readonly TableRow[]> {
  return isPostgres(transaction) ? readByCursor(transaction, table) : readByNumber(transaction, table);
}

async function* readByCursor(transaction: Database, table: TableName): AsyncGenerator<readonly TableRow[]> {
  await sql`declare rows no scroll cursor for select * from ${sql.table(table)}`.execute(transaction);
  for (;;) {
    const { rows } = await sql<TableRow>`fetch ${sql.lit(BATCH)} from rows`.execute(transaction);
    if (rows.length === 0) break;
    yield rows;
  }
  await sql`close rows`.execute(transaction);
}

/** Reads a SQLite table in the order of its row ids. */
async function* readByNumber(transaction: Database, table: TableName): AsyncGenerator<readonly TableRow[]> {
  for (let last = -1; ;) {
    const { rows } = await sql<TableRow & { readonly row_number: number }>`
      select rowid as row_number, * from ${sql.table(table)} where rowid > ${last} order by rowid limit ${sql.lit(BATCH)}
    `.execute(transaction);
    const end = rows.at(-1);
    if (end === undefined) return;
    last = end.row_number;
    yield rows.map(withoutNumber);
  }
}

const withoutNumber = (row: TableRow): TableRow =>
  Object.fromEntries(Object.entries(row).filter(([name]) => name !== 'row_number'));

/** Inserts rows into a table with the same columns. */
export async function writeRows(transaction: Database, table: TableName, rows: readonly TableRow[]): Promise<void> {
  const anyTable = transaction as unknown as Kysely<Record<string, TableRow>>;
  await anyTable.insertInto(table).values(rows).execute();
}

/** Creates an accumulator that counts and digests rows. */
export function createRowDigest(): { add(rows: readonly TableRow[]): void; sum(): TableSummary } {
  const hash = createHash('sha256');
  let count = 0;
  return {
    add(rows) {
      count += rows.length;
      for (const row of rows) addRow(hash, row);
    },
    sum: () => ({ rows: count, digest: hash.copy().digest('hex') }),
  };
}

/** Adds a row to a digest, with sorted columns, because the order of columns depends on the engine. */
function addRow(hash: Hash, row: TableRow): void {
  const fields = Object.keys(row)
    .sort()
    .map((name) => [name, toJson(row[name] ?? null)]);
  hash.update(JSON.stringify(fields));
}

const toJson = (value: number | string | Uint8Array | null) =>
  value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('base64') } : value;
