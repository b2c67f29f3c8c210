import { type Kysely, sql } from 'kysely';

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
