import type { CreateTableBuilder, Kysely } from 'kysely';

/** Repository snapshots, and the schedule of board refreshes. */
export async function refresh(database: Kysely<unknown>): Promise<void> {
  await createForgeReadings(database);
  await createForgeStates(database);
  await createRefreshSchedule(database);
  // Boards of earlier releases lack fields that the contract now requires; the next refresh recreates them.
  await (database as Kysely<{ boards: object }>).deleteFrom('boards').execute();
}

async function createForgeReadings({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('forge_readings')
    .addColumn('person_id', 'text', (column) => column.notNull().references('people.id').onDelete('cascade'))
    .addColumn('forge', 'text', (column) => column.notNull())
    .addColumn('repository_id', 'text', (column) => column.notNull())
    .addColumn('full_name', 'text', (column) => column.notNull())
    .addColumn('revision', 'text', (column) => column.notNull())
    .addColumn('is_unsettled', 'integer', (column) => column.notNull())
    .addColumn('is_cut', 'integer', (column) => column.notNull())
    .addColumn('pull_requests', 'integer', (column) => column.notNull())
    .addColumn('facts', 'text', (column) => column.notNull())
    .addColumn('read_at', 'bigint', (column) => column.notNull())
    .addColumn('changed_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('forge_readings_key', ['person_id', 'forge', 'repository_id'])
    .execute();
}

async function createForgeStates({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('forge_states')
    .addColumn('person_id', 'text', (column) => column.notNull().references('people.id').onDelete('cascade'))
    .addColumn('forge', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('read_at', 'bigint')
    .addColumn('error_kind', 'text')
    .addColumn('failures', 'integer', (column) => column.notNull())
    .addColumn('retry_at', 'bigint')
    .addColumn('paused_until', 'bigint')
    .addColumn('budgets', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('forge_states_key', ['person_id', 'forge'])
    .execute();
}

async function createRefreshSchedule({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('refresh_schedule')
    .addColumn('person_id', 'text', (column) => column.primaryKey().references('people.id').onDelete('cascade'))
    .addColumn('due_at', 'bigint', (column) => column.notNull())
    .addColumn('look_at', 'bigint', (column) => column.notNull())
    .addColumn('lease_holder', 'text')
    .addColumn('lease_until', 'bigint', (column) => column.notNull().defaultTo(0))
    .addColumn('runs_begun', 'bigint', (column) => column.notNull().defaultTo(0))
    .addColumn('run_done', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute();
  await schema.createIndex('refresh_schedule_by_look').on('refresh_schedule').column('look_at').execute();
}

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

/** Webhook deliveries that have been processed. */
export async function webhookDeliveries({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('webhook_deliveries')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('webhook_deliveries_by_expiry').on('webhook_deliveries').column('expires_at').execute();
}

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
