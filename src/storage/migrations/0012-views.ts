import type { Kysely } from 'kysely';

/** Saved views, snoozes, read state and feeds. */
export async function views(database: Kysely<unknown>): Promise<void> {
  await database.schema.alterTable('boards').addColumn('changes', 'text').execute();
  await createBoardReaders(database);
  await createSnoozes(database);
  await createViews(database);
  await createFeeds(database);
}

async function createBoardReaders({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('board_readers')
    .addColumn('person_id', 'text', (column) => column.primaryKey().references('people.id').onDelete('cascade'))
    .addColumn('seen_at', 'bigint')
    .addColumn('revision', 'bigint', (column) => column.notNull())
    .execute();
}

async function createSnoozes({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('snoozes')
    .addColumn('person_id', 'text', (column) => column.notNull().references('people.id').onDelete('cascade'))
    .addColumn('forge', 'text', (column) => column.notNull())
    .addColumn('repo', 'text', (column) => column.notNull())
    .addColumn('number', 'bigint', (column) => column.notNull())
    .addColumn('until', 'bigint')
    .addColumn('until_change', 'integer', (column) => column.notNull())
    .addColumn('changed_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('snoozes_key', ['person_id', 'forge', 'repo', 'number'])
    .execute();
}

async function createViews({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('views')
    .addColumn('person_id', 'text', (column) => column.notNull().references('people.id').onDelete('cascade'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('view', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('views_key', ['person_id', 'name'])
    .execute();
}

/** The view is null for a feed of the whole board, and the foreign key does not apply then. */
async function createFeeds({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('feeds')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('person_id', 'text', (column) => column.notNull().references('people.id').onDelete('cascade'))
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('label', 'text', (column) => column.notNull())
    .addColumn('view', 'text')
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addForeignKeyConstraint('feeds_view', ['person_id', 'view'], 'views', ['person_id', 'name'], (constraint) =>
      constraint.onDelete('cascade'),
    )
    .execute();
  await schema.createIndex('feeds_by_view').on('feeds').columns(['person_id', 'view']).execute();
}
