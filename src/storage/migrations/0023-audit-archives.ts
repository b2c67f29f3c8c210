import type { Kysely } from 'kysely';

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
