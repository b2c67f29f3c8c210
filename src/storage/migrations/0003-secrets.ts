import type { Kysely } from 'kysely';
import { sql } from '../kysely.js';

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
