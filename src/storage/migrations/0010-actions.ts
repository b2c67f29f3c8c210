import type { CreateTableBuilder, Kysely } from 'kysely';

/** Local state of repositories and pull requests, action attempts, and claims of idempotent requests. */
export async function actions(database: Kysely<unknown>): Promise<void> {
  await createRepositoryMarks(database);
  await createPullRequestMarks(database);
  await createActionAttempts(database);
  await database.schema.alterTable('replays').addColumn('claimed_at', 'bigint').execute();
}

/** Repositories are identified by their full name in lower case, because names at forges are case-insensitive. */
const withRepository = <T extends string>(table: CreateTableBuilder<T>) =>
  table
    .addColumn('person_id', 'text', (column) => column.notNull().references('people.id').onDelete('cascade'))
    .addColumn('forge', 'text', (column) => column.notNull())
    .addColumn('repo', 'text', (column) => column.notNull());

async function createRepositoryMarks({ schema }: Kysely<unknown>): Promise<void> {
  await withRepository(schema.createTable('repository_marks'))
    .addColumn('ignored_prs', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('ignored_issues', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('auto_update_branch', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('webhook_seen_at', 'bigint')
    .addPrimaryKeyConstraint('repository_marks_key', ['person_id', 'forge', 'repo'])
    .execute();
}

async function createPullRequestMarks({ schema }: Kysely<unknown>): Promise<void> {
  await withRepository(schema.createTable('pull_request_marks'))
    .addColumn('number', 'bigint', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'bigint')
    .addPrimaryKeyConstraint('pull_request_marks_key', ['person_id', 'forge', 'repo', 'number', 'kind'])
    .execute();
  await schema.createIndex('pull_request_marks_by_expiry').on('pull_request_marks').column('expires_at').execute();
}

async function createActionAttempts({ schema }: Kysely<unknown>): Promise<void> {
  await withRepository(schema.createTable('action_attempts'))
    .addColumn('number', 'bigint', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('claim', 'text', (column) => column.notNull())
    .addColumn('head_sha', 'text')
    .addColumn('began_at', 'bigint', (column) => column.notNull())
    .addColumn('lease_until', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('action_attempts_key', ['person_id', 'forge', 'repo', 'number', 'action'])
    .execute();
  await schema.createIndex('action_attempts_by_lease').on('action_attempts').column('lease_until').execute();
}
