import type { Kysely } from 'kysely';

/** Previous webhook tokens and secrets, whose deliveries are still accepted for some time. */
export async function retiredWebhooks({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('retired_webhooks')
    .addColumn('token_hash', 'text', (column) => column.primaryKey())
    .addColumn('person_id', 'text', (column) => column.notNull().references('people.id').onDelete('cascade'))
    .addColumn('webhook', 'blob', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('retired_webhooks_by_person').on('retired_webhooks').column('person_id').execute();
}
