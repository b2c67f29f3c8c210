import { type Kysely, PostgresAdapter, sql } from '../kysely.js';

/** Audit entries that are not part of the hash chain yet, and signed positions of the chain. */
export async function auditSequence(database: Kysely<unknown>): Promise<void> {
  const { schema } = database;
  const isPostgres = database.getExecutor().adapter instanceof PostgresAdapter;
  // The number orders entries and is not unique on PostgreSQL: a restored entry has the number of its old database.
  await schema
    .createTable('audit_pending')
    .addColumn('number', isPostgres ? 'bigserial' : 'integer', (column) =>
      isPostgres ? column.notNull() : column.primaryKey(),
    )
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
    .addColumn('signature', 'text')
    .addColumn('is_rejected', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  await schema.createIndex('audit_pending_by_number').on('audit_pending').columns(['is_rejected', 'number']).execute();
  if (isPostgres) {
    // Entries stay for less than a second, so the table is small if it is vacuumed often.
    await sql`alter table audit_pending
      set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)`.execute(database);
  }
  await schema
    .createTable('audit_checkpoints')
    .addColumn('id', 'bigint', (column) => column.primaryKey())
    .addColumn('hash', 'text', (column) => column.notNull())
    .addColumn('signature', 'text', (column) => column.notNull())
    .execute();
}
