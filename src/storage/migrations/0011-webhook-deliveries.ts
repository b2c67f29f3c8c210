import type { Kysely } from 'kysely';

/** Webhook deliveries that have been processed. */
export async function webhookDeliveries({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('webhook_deliveries')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('webhook_deliveries_by_expiry').on('webhook_deliveries').column('expires_at').execute();
}
