import type { Kysely } from 'kysely';

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
