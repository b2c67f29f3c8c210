import type { Kysely } from 'kysely';

/** The open requests of command lines for a token. */
export async function deviceLogins({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('device_logins')
    .addColumn('device_hash', 'text', (column) => column.primaryKey())
    .addColumn('user_hash', 'text', (column) => column.notNull().unique())
    .addColumn('client_id', 'text', (column) => column.notNull())
    .addColumn('device_name', 'text')
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('permissions', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addColumn('interval_ms', 'integer', (column) => column.notNull())
    .addColumn('next_poll_at', 'bigint', (column) => column.notNull())
    .addColumn('decision', 'text')
    .addColumn('token_id', 'text')
    .addColumn('ttl_seconds', 'integer')
    .execute();
  await schema.createIndex('device_logins_by_expiry').on('device_logins').column('expires_at').execute();
}
