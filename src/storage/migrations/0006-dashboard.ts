import type { Kysely } from 'kysely';

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
