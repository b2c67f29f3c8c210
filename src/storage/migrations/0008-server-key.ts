import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** With which key of a server the database is used: at most one row, whose id is 1. */
export async function serverKey({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('server_key')
    .addColumn('id', 'integer', (column) => column.primaryKey().check(sql`id = 1`))
    .addColumn('sealed', 'blob', (column) => column.notNull())
    .execute();
}
