import type { CreateTableBuilder, Kysely } from 'kysely';
import { PostgresAdapter, sql } from '../kysely.js';

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

/** A separate table for the current and previous values of secrets, with their recipients. */
export async function secretValues(database: Kysely<unknown>): Promise<void> {
  await createValues(database);
  await createRecipients(database);
  await addToObjects(database);
}

/** The value is the last column, so that SQLite can read the others without it. */
async function createValues({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('secret_object_values')
    .addColumn('object_id', 'text', (column) => column.notNull().references('secret_objects.id').onDelete('cascade'))
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('created_by_type', 'text', (column) => column.notNull())
    .addColumn('created_by_id', 'text', (column) => column.notNull())
    .addColumn('replaced_at', 'bigint')
    .addColumn('replaced_by_type', 'text')
    .addColumn('replaced_by_id', 'text')
    .addColumn('recipient_count', 'integer', (column) => column.notNull())
    .addColumn('sealed', 'blob', (column) => column.notNull())
    .addPrimaryKeyConstraint('secret_object_values_key', ['object_id', 'version'])
    .execute();
}

async function createRecipients({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('secret_object_recipients')
    .addColumn('object_id', 'text', (column) => column.notNull())
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('recipient', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('secret_object_recipients_key', ['object_id', 'version', 'recipient'])
    .addForeignKeyConstraint(
      'secret_object_recipients_of_value',
      ['object_id', 'version'],
      'secret_object_values',
      ['object_id', 'version'],
      (constraint) => constraint.onDelete('cascade'),
    )
    .execute();
}

async function addToObjects(database: Kysely<unknown>): Promise<void> {
  // No release stored secrets before this migration, so there are no values to copy.
  await sql`delete from secret_objects`.execute(database);
  const { schema } = database;
  await schema.alterTable('secret_objects').dropColumn('sealed').execute();
  await schema
    .alterTable('secret_objects')
    .addColumn('version', 'integer', (column) => column.notNull().defaultTo(1))
    .execute();
  await schema.alterTable('secret_objects').addColumn('rotate_after_days', 'integer').execute();
  await schema.alterTable('secret_objects').addColumn('noted_version', 'integer').execute();
}

/** The hash chain of the audit log, revoked tokens, and wrapped copies of the owner's identity. */
export async function secretsUpkeep(database: Kysely<unknown>): Promise<void> {
  // No release wrote to the log before this migration, so there are no entries to copy.
  await database.schema.dropTable('audit_log').execute();
  await createAuditLog(database);
  await createAuditHead(database);
  await addColumns(database);
}

/** Entries outlive their subjects, so there are no foreign keys. */
async function createAuditLog({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('audit_log')
    .addColumn('id', 'bigint', (column) => column.primaryKey())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('subject_type', 'text', (column) => column.notNull())
    .addColumn('slug', 'text')
    .addColumn('variant_id', 'text')
    .addColumn('version', 'bigint')
    .addColumn('subject_id', 'text')
    .addColumn('previous_name', 'text')
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('ip', 'text', (column) => column.notNull())
    .addColumn('caller', 'text')
    .addColumn('actor_type', 'text')
    .addColumn('actor_id', 'text')
    .addColumn('hash', 'text', (column) => column.notNull())
    .execute();
  for (const column of ['slug', 'caller', 'actor_id']) {
    await schema.createIndex(`audit_log_by_${column}`).on('audit_log').columns([column, 'id']).execute();
  }
}

async function createAuditHead({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('audit_head')
    .addColumn('id', 'integer', (column) => column.primaryKey().check(sql`id = 1`))
    .addColumn('count', 'bigint', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .execute();
}

/** Adds the columns one by one, because SQLite accepts only one per statement. */
async function addColumns({ schema }: Kysely<unknown>): Promise<void> {
  await schema.alterTable('tokens').addColumn('revoked_at', 'bigint').execute();
  await schema.alterTable('tokens').addColumn('issued_by', 'text').execute();
  await schema.createIndex('tokens_by_kind').on('tokens').columns(['kind', 'created_at']).execute();
  await schema.alterTable('passkeys').addColumn('last_used_at', 'bigint').execute();
  await schema.alterTable('passkeys').addColumn('wrapped_identity', 'text').execute();
  await schema.alterTable('secret_owner').addColumn('recovery_wrapped_identity', 'text').execute();
}

/** Previous webhook tokens and secrets, whose deliveries are still accepted for some time. */
export async function retiredWebhooks({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('retired_webhooks')
    .addColumn('token_hash', 'text', (column) => column.primaryKey())
    .addColumn('person_id', 'text', (column) => column.notNull().references('people.id').onDelete('cascade'))
    .addColumn('webhook', 'blob', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('retired_webhooks_by_person').on('retired_webhooks').column('person_id').execute();
}

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

/** Audit entries that are not part of the hash chain yet, and signed positions of the chain. */
export async function auditSequence(database: Kysely<unknown>): Promise<void> {
  const { schema } = database;
  const isPostgres = database.getExecutor().adapter instanceof PostgresAdapter;
  // The number orders entries and is not unique on PostgreSQL: a restored entry has the number of its old database.
  await schema
    .createTable('audit_pending')
    .addColumn('number', isPostgres ? 'bigserial' : 'integer', (column) =>
      isPostgres ? column.notNull() : column.primaryKey(),
    )
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('subject_type', 'text', (column) => column.notNull())
    .addColumn('slug', 'text')
    .addColumn('variant_id', 'text')
    .addColumn('version', 'bigint')
    .addColumn('subject_id', 'text')
    .addColumn('previous_name', 'text')
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('ip', 'text', (column) => column.notNull())
    .addColumn('caller', 'text')
    .addColumn('actor_type', 'text')
    .addColumn('actor_id', 'text')
    .addColumn('signature', 'text')
    .addColumn('is_rejected', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  await schema.createIndex('audit_pending_by_number').on('audit_pending').columns(['is_rejected', 'number']).execute();
  if (isPostgres) {
    // Entries stay for less than a second, so the table is small if it is vacuumed often.
    await sql`alter table audit_pending
      set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)`.execute(database);
  }
  await schema
    .createTable('audit_checkpoints')
    .addColumn('id', 'bigint', (column) => column.primaryKey())
    .addColumn('hash', 'text', (column) => column.notNull())
    .addColumn('signature', 'text', (column) => column.notNull())
    .execute();
}
