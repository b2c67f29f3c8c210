import type { Kysely } from 'kysely';

/** The latest board of each user, and board shares. */
export async function boards({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('boards')
    .addColumn('person_id', 'text', (column) => column.primaryKey().references('people.id').onDelete('cascade'))
    .addColumn('generated_at', 'bigint', (column) => column.notNull())
    .addColumn('snapshot', 'text', (column) => column.notNull())
    .execute();

  await schema
    .createTable('board_shares')
    .addColumn('owner_id', 'text', (column) => column.notNull().references('people.id').onDelete('cascade'))
    .addColumn('viewer_id', 'text', (column) => column.notNull().references('people.id').onDelete('cascade'))
    .addPrimaryKeyConstraint('board_shares_key', ['owner_id', 'viewer_id'])
    .execute();
}
