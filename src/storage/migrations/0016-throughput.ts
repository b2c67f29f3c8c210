import type { Kysely } from 'kysely';

/** The number of pull requests opened and closed per board and day. */
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
