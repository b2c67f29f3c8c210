import type { Kysely } from 'kysely';

/** The time of the next scheduled backup, and the lease of the server that makes it. */
export async function backupSchedule({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('backup_schedule')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('due_at', 'bigint', (column) => column.notNull())
    .addColumn('lease_holder', 'text')
    .addColumn('lease_until', 'bigint', (column) => column.notNull())
    .addColumn('last_name', 'text')
    .addColumn('last_at', 'bigint')
    .execute();
}
