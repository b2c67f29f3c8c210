import type { Kysely } from 'kysely';
import { sql } from '../kysely.js';

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
