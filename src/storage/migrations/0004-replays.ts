import type { Kysely } from 'kysely';

/** Stored responses to requests with an idempotency key. */
export async function replays({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('replays')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('fingerprint', 'text', (column) => column.notNull())
    .addColumn('sealed', 'blob', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('replays_by_expiry').on('replays').column('expires_at').execute();
}
