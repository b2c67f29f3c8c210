import { type Kysely, sql } from '../kysely.js';

/** Facts of audit entries, such as digests of values; restrictions of tokens; public keys that names had before. */
export async function secretsTrust(database: Kysely<unknown>): Promise<void> {
  const { schema } = database;
  for (const table of ['audit_log', 'audit_pending']) {
    await schema.alterTable(table).addColumn('detail', 'text').execute();
  }
  await sql`create index audit_log_values on audit_log (variant_id, id) where detail is not null`.execute(database);
  await schema.alterTable('tokens').addColumn('access', 'text').execute();
  await schema
    .createTable('secret_retired_keys')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('public_key', 'text', (column) => column.notNull())
    .execute();
}
