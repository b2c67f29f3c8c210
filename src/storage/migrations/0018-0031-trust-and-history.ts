import type { Kysely } from 'kysely';
import { PostgresAdapter, sql } from '../kysely.js';

/**
 * Indexes in the order of each list, so that the cost of a page depends on its length alone. Tags and consumers repeat
 * the slug and time of their secret for that, and whether a value should be resealed becomes a column.
 */
export async function lists(database: Kysely<unknown>): Promise<void> {
  await addReseal(database);
  await sortLinks(database);
  const { schema } = database;
  for (const column of ['subject_type', 'at']) {
    await schema.createIndex(`audit_log_by_${column}`).on('audit_log').columns([column, 'id']).execute();
  }
}

async function addReseal(database: Kysely<unknown>): Promise<void> {
  const { schema } = database;
  await schema
    .alterTable('secret_objects')
    .addColumn('needs_reseal', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  await sql`update secret_objects set needs_reseal = 1 where ${NEEDS_RESEAL}`.execute(database);
  await schema.dropIndex('secret_objects_by_slug').execute();
  const order = ['slug', 'created_at', 'id'];
  await schema.createIndex('secret_objects_by_slug').on('secret_objects').columns(order).execute();
  await schema
    .createIndex('secret_objects_by_reseal')
    .on('secret_objects')
    .columns(['needs_reseal', ...order])
    .execute();
  await sql`
    create index secret_objects_by_rotation on secret_objects ((updated_at + rotate_after_days * 86400000))
    where rotate_after_days is not null`.execute(database);
}

async function sortLinks(database: Kysely<unknown>): Promise<void> {
  const { schema } = database;
  for (const [table, name] of [
    ['secret_object_consumers', 'consumer'],
    ['secret_object_tags', 'tag'],
  ] as const) {
    const alter = () => schema.alterTable(table);
    await alter()
      .addColumn('slug', 'text', (column) => column.notNull().defaultTo(''))
      .execute();
    await alter()
      .addColumn('created_at', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();
    await sql`
      update ${sql.table(table)} set
        slug = (select slug from secret_objects where id = object_id),
        created_at = (select created_at from secret_objects where id = object_id)`.execute(database);
    await schema.dropIndex(`${table}_by_${name}`).execute();
    const columns = [name, 'slug', 'created_at', 'object_id'];
    await schema.createIndex(`${table}_by_${name}`).on(table).columns(columns).execute();
  }
}

/** The rule of `findResealReason` at the time of this migration. */
const NEEDS_RESEAL = sql`
  case when exists (
    select 1 from secret_object_recipients as r
    where r.object_id = secret_objects.id and r.version = secret_objects.version
  )
  then exists (
    select 1 from secret_object_consumers as c join secret_consumers as k on k.name = c.consumer
    where c.object_id = secret_objects.id and k.public_key is not null and not exists (
      select 1 from secret_object_recipients as r
      where r.object_id = secret_objects.id and r.version = secret_objects.version and r.recipient = k.public_key
    )
  ) or (
    not exists (
      select 1 from secret_object_consumers as c left join secret_consumers as k on k.name = c.consumer
      where c.object_id = secret_objects.id and k.public_key is null
    ) and exists (
      select 1 from secret_object_recipients as r
      where r.object_id = secret_objects.id and r.version = secret_objects.version
        and not exists (select 1 from secret_owner as o where o.public_key = r.recipient)
        and not exists (
          select 1 from secret_object_consumers as c join secret_consumers as k on k.name = c.consumer
          where c.object_id = secret_objects.id and k.public_key = r.recipient
        )
    )
  )
  else exists (
    select 1 from (
      select
        (select recipient_count from secret_object_values as v
          where v.object_id = secret_objects.id and v.version = secret_objects.version) as given,
        (select count(distinct k.public_key) from secret_object_consumers as c
          join secret_consumers as k on k.name = c.consumer where c.object_id = secret_objects.id) as wanted,
        (select count(*) from secret_object_consumers as c left join secret_consumers as k on k.name = c.consumer
          where c.object_id = secret_objects.id and k.public_key is null) as unknown
    ) as sealing
    where given < wanted or (wanted > 0 and unknown = 0 and given > wanted + 1)
  )
  end`;

/** Recipients that were chosen explicitly, and public keys that are longer than an index entry of PostgreSQL. */
export async function explicitRecipients(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .alterTable('secret_object_recipients')
    .addColumn('is_explicit', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  if (!(database.getExecutor().adapter instanceof PostgresAdapter)) return;
  await sql`alter table secret_object_recipients drop constraint secret_object_recipients_key`.execute(database);
  await sql`
    create unique index secret_object_recipients_key
    on secret_object_recipients (object_id, version, md5(recipient))`.execute(database);
}

/** The time of the next scheduled backup, and the lease of the server that makes it. */
export async function backupSchedule({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('backup_schedule')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('due_at', 'bigint', (column) => column.notNull())
    .addColumn('lease_holder', 'text')
    .addColumn('lease_until', 'bigint', (column) => column.notNull())
    .addColumn('last_name', 'text')
    .addColumn('last_at', 'bigint')
    .execute();
}

/** The repositories that a forge hides from the credential. */
export async function hiddenRepositories({ schema }: Kysely<unknown>): Promise<void> {
  await schema.alterTable('forge_states').addColumn('hidden', 'text').execute();
}

/** Facts of audit entries, such as digests of values; restrictions of tokens; public keys that names had before. */
export async function secretsTrust(database: Kysely<unknown>): Promise<void> {
  const { schema } = database;
  for (const table of ['audit_log', 'audit_pending']) {
    await schema.alterTable(table).addColumn('detail', 'text').execute();
  }
  await sql`create index audit_log_values on audit_log (variant_id, id) where detail is not null`.execute(database);
  await schema.alterTable('tokens').addColumn('access', 'text').execute();
  await schema
    .createTable('secret_retired_keys')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('public_key', 'text', (column) => column.notNull())
    .execute();
}

/** The files with archived entries of the audit log, each signed with the end of its part of the chain. */
export async function auditArchives({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('audit_archives')
    .addColumn('first_id', 'bigint', (column) => column.primaryKey())
    .addColumn('last_id', 'bigint', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('digest', 'text', (column) => column.notNull())
    .addColumn('archived_at', 'bigint', (column) => column.notNull())
    .addColumn('signature', 'text', (column) => column.notNull())
    .execute();
}

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

/** The open requests of command lines for a token. */
export async function deviceLogins({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('device_logins')
    .addColumn('device_hash', 'text', (column) => column.primaryKey())
    .addColumn('user_hash', 'text', (column) => column.notNull().unique())
    .addColumn('client_id', 'text', (column) => column.notNull())
    .addColumn('device_name', 'text')
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('permissions', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addColumn('interval_ms', 'integer', (column) => column.notNull())
    .addColumn('next_poll_at', 'bigint', (column) => column.notNull())
    .addColumn('decision', 'text')
    .addColumn('token_id', 'text')
    .addColumn('ttl_seconds', 'integer')
    .execute();
  await schema.createIndex('device_logins_by_expiry').on('device_logins').column('expires_at').execute();
}

/** The details by which users recognise their sessions. */
export async function sessionDetails({ schema }: Kysely<unknown>): Promise<void> {
  await schema.alterTable('sessions').addColumn('browser', 'text').execute();
  await schema.alterTable('sessions').addColumn('last_used_at', 'bigint').execute();
}
