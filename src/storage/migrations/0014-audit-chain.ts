import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** The audit log of objects, consumers, tokens and passkeys, and the head of its chain. */
export async function auditChain(database: Kysely<unknown>): Promise<void> {
  // Nothing that was ever served wrote to the log before, so there is nothing to keep.
  await database.schema.dropTable('audit_log').execute();
  await createAuditLog(database);
  await database.schema
    .createTable('audit_head')
    .addColumn('id', 'integer', (column) => column.primaryKey().check(sql`id = 1`))
    .addColumn('count', 'bigint', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .execute();
}

/** Entries outlive what they speak of, so nothing is referenced. */
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
