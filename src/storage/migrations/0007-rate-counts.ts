import type { Kysely } from 'kysely';

/** Rate limit counts that several servers on one database share. */
export async function rateCounts({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('rate_counts')
    .addColumn('key', 'text', (column) => column.primaryKey())
    .addColumn('taken', 'bigint', (column) => column.notNull())
    .addColumn('ends_at', 'bigint', (column) => column.notNull())
    .execute();
}
