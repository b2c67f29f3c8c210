import type { Kysely } from 'kysely';
import { sql } from '../kysely.js';

/** The hash chain of the audit log, revoked tokens, and wrapped copies of the owner's identity. */
export async function secretsUpkeep(database: Kysely<unknown>): Promise<void> {
  // No release wrote to the log before this migration, so there are no entries to copy.
  await database.schema.dropTable('audit_log').execute();
  await createAuditLog(database);
  await createAuditHead(database);
  await addColumns(database);
}

/** Entries outlive their subjects, so there are no foreign keys. */
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

async function createAuditHead({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('audit_head')
    .addColumn('id', 'integer', (column) => column.primaryKey().check(sql`id = 1`))
    .addColumn('count', 'bigint', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .execute();
}

/** Adds the columns one by one, because SQLite accepts only one per statement. */
async function addColumns({ schema }: Kysely<unknown>): Promise<void> {
  await schema.alterTable('tokens').addColumn('revoked_at', 'bigint').execute();
  await schema.alterTable('tokens').addColumn('issued_by', 'text').execute();
  await schema.createIndex('tokens_by_kind').on('tokens').columns(['kind', 'created_at']).execute();
  await schema.alterTable('passkeys').addColumn('last_used_at', 'bigint').execute();
  await schema.alterTable('passkeys').addColumn('wrapped_identity', 'text').execute();
  await schema.alterTable('secret_owner').addColumn('recovery_wrapped_identity', 'text').execute();
}
