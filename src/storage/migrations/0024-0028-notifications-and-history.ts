import type { Kysely } from 'kysely';
import { sql } from '../kysely.js';

/** Notification channels, events that wait for a message, and messages with their outcome. */
export async function notifications(database: Kysely<unknown>): Promise<void> {
  await createChannels(database);
  await createPreferences(database);
  await createDeliveries(database);
  await createEvents(database);
  await createPushKeys(database);
}

async function createChannels({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('notification_channels')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('person_id', 'text', (column) => column.notNull().references('people.id').onDelete('cascade'))
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('label', 'text', (column) => column.notNull())
    .addColumn('target', 'text', (column) => column.notNull())
    .addColumn('sealed', 'blob', (column) => column.notNull())
    .addColumn('events', 'text', (column) => column.notNull())
    .addColumn('digest', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('confirmed_at', 'bigint')
    .addColumn('code_tries', 'integer', (column) => column.notNull())
    .execute();
  await schema.createIndex('notification_channels_by_person').on('notification_channels').column('person_id').execute();
}

async function createPreferences({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('notification_preferences')
    .addColumn('person_id', 'text', (column) => column.primaryKey().references('people.id').onDelete('cascade'))
    .addColumn('preferences', 'text', (column) => column.notNull())
    .addColumn('digest_at', 'bigint')
    .execute();
  await schema
    .createIndex('notification_preferences_by_digest')
    .on('notification_preferences')
    .column('digest_at')
    .execute();
}

/** Without a foreign key to the channel, as deliveries stay in the log when their channel is deleted. */
async function createDeliveries({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('notification_deliveries')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('person_id', 'text', (column) => column.notNull().references('people.id').onDelete('cascade'))
    .addColumn('channel_id', 'text', (column) => column.notNull())
    .addColumn('channel_kind', 'text', (column) => column.notNull())
    .addColumn('channel_label', 'text', (column) => column.notNull())
    .addColumn('message', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('next_at', 'bigint', (column) => column.notNull())
    .addColumn('lease_holder', 'text')
    .addColumn('lease_until', 'bigint', (column) => column.notNull())
    .addColumn('ended_at', 'bigint')
    .addColumn('error', 'text')
    .execute();
  await schema
    .createIndex('notification_deliveries_by_person')
    .on('notification_deliveries')
    .columns(['person_id', 'created_at'])
    .execute();
  await schema
    .createIndex('notification_deliveries_by_state')
    .on('notification_deliveries')
    .columns(['state', 'next_at'])
    .execute();
}

async function createEvents({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('notification_events')
    .addColumn('channel_id', 'text', (column) =>
      column.notNull().references('notification_channels.id').onDelete('cascade'),
    )
    .addColumn('event_key', 'text', (column) => column.notNull())
    .addColumn('person_id', 'text', (column) => column.notNull())
    .addColumn('event', 'text', (column) => column.notNull())
    .addColumn('is_unconfirmed', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('due_at', 'bigint')
    .addPrimaryKeyConstraint('notification_events_key', ['channel_id', 'event_key'])
    .execute();
  await schema.createIndex('notification_events_by_due').on('notification_events').column('due_at').execute();
}

async function createPushKeys({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('push_keys')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('public_key', 'text', (column) => column.notNull())
    .addColumn('sealed', 'blob', (column) => column.notNull())
    .execute();
}

/** The user's pull requests in repositories that the board does not list, and further credentials of forges. */
export async function forgeCredentials({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .alterTable('forge_readings')
    .addColumn('yours_only', 'integer', (column) => column.notNull().defaultTo(sql.lit(0)))
    .execute();
  await schema.alterTable('forge_states').addColumn('incomplete_search', 'text').execute();
  await schema.alterTable('forge_states').addColumn('expires_at', 'bigint').execute();
  await schema
    .createTable('forge_credentials')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('person_id', 'text', (column) => column.notNull().references('people.id').onDelete('cascade'))
    .addColumn('forge', 'text', (column) => column.notNull())
    .addColumn('label', 'text', (column) => column.notNull())
    .addColumn('url', 'text', (column) => column.notNull())
    .addColumn('sealed', 'blob', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('saved_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('forge_credentials_by_person').on('forge_credentials').column('person_id').execute();
}

/** Rules that issue tokens to workloads, the tokens of issuers that were used once, and the rule of each issued token. */
export async function workloadIdentity({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('workload_rules')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('issuer', 'text', (column) => column.notNull())
    .addColumn('audience', 'text', (column) => column.notNull())
    .addColumn('claims', 'text', (column) => column.notNull())
    .addColumn('consumer', 'text')
    .addColumn('access', 'text')
    .addColumn('ttl_seconds', 'integer', (column) => column.notNull())
    .addColumn('single_use', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('last_used_at', 'bigint')
    .execute();
  await schema.createIndex('workload_rules_by_issuer').on('workload_rules').column('issuer').execute();
  await schema
    .createTable('workload_used_tokens')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('workload_used_tokens_by_expiry').on('workload_used_tokens').column('expires_at').execute();
  await schema.alterTable('tokens').addColumn('workload_rule', 'text').execute();
  await schema.createIndex('tokens_by_workload_rule').on('tokens').columns(['workload_rule', 'expires_at']).execute();
}

/** The writers' signatures of values. */
export async function valueSignatures({ schema }: Kysely<unknown>): Promise<void> {
  await schema.alterTable('secret_object_values').addColumn('signature', 'text').execute();
}

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
