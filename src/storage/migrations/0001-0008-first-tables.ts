import type { Kysely } from 'kysely';
import { sql } from '../kysely.js';

/** Users, their sessions and all kinds of tokens. */
export async function accounts({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('people')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('username', 'text', (column) => column.notNull())
    .addColumn('username_key', 'text', (column) => column.notNull().unique())
    .addColumn('display_name', 'text', (column) => column.notNull())
    .addColumn('is_admin', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute();

  await schema
    .createTable('sessions')
    .addColumn('id_hash', 'text', (column) => column.primaryKey())
    .addColumn('person_id', 'text', (column) => column.notNull().references('people.id').onDelete('cascade'))
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('sessions_by_person').on('sessions').column('person_id').execute();

  await schema
    .createTable('tokens')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('person_id', 'text', (column) => column.notNull().references('people.id').onDelete('cascade'))
    .addColumn('consumer', 'text')
    .addColumn('label', 'text', (column) => column.notNull())
    .addColumn('scopes', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addColumn('last_used_at', 'bigint')
    .execute();
  await schema.createIndex('tokens_by_person').on('tokens').columns(['person_id', 'created_at']).execute();
}

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

/** Secrets, their consumers and tags, the owner's key, and the audit log. */
export async function secrets(database: Kysely<unknown>): Promise<void> {
  await createObjects(database);
  await createConsumers(database);
  await createAuditLog(database);
}

async function createObjects({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('secret_objects')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('slug', 'text', (column) => column.notNull())
    .addColumn('description', 'text')
    .addColumn('sealed', 'blob', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .addColumn('created_by_type', 'text', (column) => column.notNull())
    .addColumn('created_by_id', 'text', (column) => column.notNull())
    .addColumn('updated_by_type', 'text', (column) => column.notNull())
    .addColumn('updated_by_id', 'text', (column) => column.notNull())
    .execute();
  await schema.createIndex('secret_objects_by_slug').on('secret_objects').columns(['slug', 'created_at']).execute();

  for (const [table, name] of [
    ['secret_object_consumers', 'consumer'],
    ['secret_object_tags', 'tag'],
  ] as const) {
    await schema
      .createTable(table)
      .addColumn('object_id', 'text', (column) => column.notNull().references('secret_objects.id').onDelete('cascade'))
      .addColumn(name, 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint(`${table}_key`, ['object_id', name])
      .execute();
    await schema.createIndex(`${table}_by_${name}`).on(table).columns([name, 'object_id']).execute();
  }
}

async function createConsumers({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('secret_consumers')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('public_key', 'text')
    .execute();
  await schema
    .createTable('secret_owner')
    .addColumn('id', 'integer', (column) => column.primaryKey().check(sql`id = 1`))
    .addColumn('public_key', 'text', (column) => column.notNull())
    .execute();
}

/** Entries outlive their subjects, so there are no foreign keys. */
async function createAuditLog({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('audit_log')
    .addColumn('id', 'bigint', (column) => column.primaryKey())
    .addColumn('slug', 'text', (column) => column.notNull())
    .addColumn('variant_id', 'text')
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('ip', 'text', (column) => column.notNull())
    .addColumn('caller', 'text')
    .addColumn('actor_type', 'text')
    .addColumn('actor_id', 'text')
    .addColumn('previous_slug', 'text')
    .addColumn('hash', 'text', (column) => column.notNull())
    .execute();
  await schema.createIndex('audit_log_by_slug').on('audit_log').columns(['slug', 'id']).execute();
  await schema.createIndex('audit_log_by_actor').on('audit_log').columns(['actor_id', 'id']).execute();
}

/** Stored responses to requests with an idempotency key. */
export async function replays({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('replays')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('fingerprint', 'text', (column) => column.notNull())
    .addColumn('sealed', 'blob', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('replays_by_expiry').on('replays').column('expires_at').execute();
}

/** Passkeys, the challenges of their ceremonies, invitations, and account events. */
export async function passkeys(database: Kysely<unknown>): Promise<void> {
  await createPasskeys(database);
  await createInvitations(database);
  await createChallenges(database);
  await createEvents(database);
}

async function createPasskeys({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('passkeys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('person_id', 'text', (column) => column.notNull().references('people.id').onDelete('cascade'))
    .addColumn('user_handle', 'text', (column) => column.notNull())
    .addColumn('public_key', 'text', (column) => column.notNull())
    .addColumn('counter', 'bigint', (column) => column.notNull())
    .addColumn('transports', 'text', (column) => column.notNull())
    .addColumn('label', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('passkeys_by_person').on('passkeys').columns(['person_id', 'created_at']).execute();
}

async function createInvitations({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('invitations')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('username', 'text')
    .addColumn('username_key', 'text')
    .addColumn('display_name', 'text')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
}

async function createChallenges({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('challenges')
    .addColumn('hash', 'text', (column) => column.primaryKey())
    .addColumn('ceremony', 'text', (column) => column.notNull())
    .addColumn('person_id', 'text', (column) => column.references('people.id').onDelete('cascade'))
    .addColumn('invitation_id', 'text', (column) => column.references('invitations.id').onDelete('cascade'))
    .addColumn('username', 'text')
    .addColumn('display_name', 'text')
    .addColumn('user_handle', 'text')
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('challenges_by_expiry').on('challenges').column('expires_at').execute();
}

/** Events outlive their subjects, so there are no foreign keys. */
async function createEvents({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('account_events')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('person_id', 'text')
    .addColumn('actor_type', 'text', (column) => column.notNull())
    .addColumn('actor_id', 'text')
    .addColumn('subject', 'text')
    .addColumn('address', 'text', (column) => column.notNull())
    .execute();
  await schema.createIndex('account_events_by_time').on('account_events').columns(['at', 'id']).execute();
}

/** User settings, and the log of requests to forges. */
export async function dashboard(database: Kysely<unknown>): Promise<void> {
  await createSettings(database);
  await createRequestLog(database);
}

async function createSettings({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('settings')
    .addColumn('person_id', 'text', (column) => column.primaryKey().references('people.id').onDelete('cascade'))
    .addColumn('saved_at', 'bigint')
    .addColumn('refreshed_at', 'bigint')
    .addColumn('forges', 'blob', (column) => column.notNull())
    .addColumn('webhook_token_hash', 'text', (column) => column.notNull().unique())
    .addColumn('webhook', 'blob', (column) => column.notNull())
    .addColumn('theme', 'text', (column) => column.notNull().defaultTo(''))
    .addColumn('timezone', 'text', (column) => column.notNull().defaultTo(''))
    .addColumn('filter_state', 'text', (column) => column.notNull().defaultTo('{}'))
    .execute();
}

/** Entries outlive the users on whose behalf the requests were sent, so there are no foreign keys. */
async function createRequestLog({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('request_log')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('logged_at', 'bigint', (column) => column.notNull())
    .addColumn('forge', 'text', (column) => column.notNull())
    .addColumn('method', 'text', (column) => column.notNull())
    .addColumn('endpoint', 'text', (column) => column.notNull())
    .addColumn('outcome', 'text', (column) => column.notNull())
    .addColumn('account', 'text')
    .addColumn('status_code', 'integer')
    .addColumn('budget', 'text')
    .execute();
  await schema.createIndex('request_log_by_account').on('request_log').columns(['account', 'id']).execute();
}

/** Rate limit counts that several servers on one database share. */
export async function rateCounts({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('rate_counts')
    .addColumn('key', 'text', (column) => column.primaryKey())
    .addColumn('taken', 'bigint', (column) => column.notNull())
    .addColumn('ends_at', 'bigint', (column) => column.notNull())
    .execute();
}

/** A check value for the server key of the database: at most one row, with the id 1. */
export async function serverKey({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('server_key')
    .addColumn('id', 'integer', (column) => column.primaryKey().check(sql`id = 1`))
    .addColumn('sealed', 'blob', (column) => column.notNull())
    .execute();
}
