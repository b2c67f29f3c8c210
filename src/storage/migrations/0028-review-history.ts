import type { Kysely } from 'kysely';

/** The review times of recent pull requests, and when those of each repository were read. */
export async function reviewHistory({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('pull_request_histories')
    .addColumn('person_id', 'text', (column) => column.notNull().references('people.id').onDelete('cascade'))
    .addColumn('forge', 'text', (column) => column.notNull())
    .addColumn('repository_id', 'text', (column) => column.notNull())
    .addColumn('number', 'bigint', (column) => column.notNull())
    .addColumn('title', 'text', (column) => column.notNull())
    .addColumn('url', 'text', (column) => column.notNull())
    .addColumn('author', 'text', (column) => column.notNull())
    .addColumn('author_is_bot', 'integer', (column) => column.notNull())
    .addColumn('is_draft', 'integer', (column) => column.notNull())
    .addColumn('times', 'text', (column) => column.notNull())
    .addColumn('closed_at', 'bigint')
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('pull_request_histories_key', ['person_id', 'forge', 'repository_id', 'number'])
    .execute();
  await schema
    .createIndex('pull_request_histories_by_update')
    .on('pull_request_histories')
    .columns(['person_id', 'updated_at'])
    .execute();
  await schema
    .createTable('history_readings')
    .addColumn('person_id', 'text', (column) => column.notNull().references('people.id').onDelete('cascade'))
    .addColumn('forge', 'text', (column) => column.notNull())
    .addColumn('repository_id', 'text', (column) => column.notNull())
    .addColumn('revision', 'text', (column) => column.notNull())
    .addColumn('read_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('history_readings_key', ['person_id', 'forge', 'repository_id'])
    .execute();
}
