import { type Kysely, PostgresAdapter, sql } from '../kysely.js';

/** Recipients that were chosen explicitly, and public keys that are longer than an index entry of PostgreSQL. */
export async function explicitRecipients(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .alterTable('secret_object_recipients')
    .addColumn('is_explicit', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  if (!(database.getExecutor().adapter instanceof PostgresAdapter)) return;
  await sql`alter table secret_object_recipients drop constraint secret_object_recipients_key`.execute(database);
  await sql`
    create unique index secret_object_recipients_key
    on secret_object_recipients (object_id, version, md5(recipient))`.execute(database);
}
