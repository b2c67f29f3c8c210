import type { Kysely } from 'kysely';

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
