import type { Kysely } from 'kysely';

/** What several servers on one database count together. */
export async function rateCounts({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('rate_counts')
    .addColumn('key', 'text', (column) => column.primaryKey())
    .addColumn('taken', 'bigint', (column) => column.notNull())
    .addColumn('ends_at', 'bigint', (column) => column.notNull())
    .execute();
}
