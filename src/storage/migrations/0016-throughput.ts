import type { Kysely } from 'kysely';

/** How many pull requests came to each person's board and left it, day by day. */
export async function throughput({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('throughput_days')
    .addColumn('person_id', 'text', (column) => column.notNull().references('people.id').onDelete('cascade'))
    .addColumn('day', 'text', (column) => column.notNull())
    .addColumn('opened_count', 'bigint', (column) => column.notNull())
    .addColumn('left_count', 'bigint', (column) => column.notNull())
    .addColumn('open_count', 'bigint')
    .addPrimaryKeyConstraint('throughput_days_key', ['person_id', 'day'])
    .execute();
}
