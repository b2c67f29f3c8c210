import type { Kysely } from 'kysely';
import { sql } from '../kysely.js';

/** A check value for the server key of the database: at most one row, with the id 1. */
export async function serverKey({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('server_key')
    .addColumn('id', 'integer', (column) => column.primaryKey().check(sql`id = 1`))
    .addColumn('sealed', 'blob', (column) => column.notNull())
    .execute();
}
