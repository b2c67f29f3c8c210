import type { Kysely } from 'kysely';
import { PostgresAdapter, sql } from '../kysely.js';

/**
 * Indexes in the order of each list, so that the cost of a page depends on its length alone. Tags and consumers repeat
 * the slug and time of their secret for that, and whether a value should be resealed becomes a column.
 */
export async function lists(database: Kysely<unknown>): Promise<void> {
  await addReseal(database);
  await sortLinks(database);
  const { schema } = database;
  for (const column of ['subject_type', 'at']) {
    await schema.createIndex(`audit_log_by_${column}`).on('audit_log').columns([column, 'id']).execute();
  }
}

async function addReseal(database: Kysely<unknown>): Promise<void> {
  const { schema } = database;
  await schema
    .alterTable('secret_objects')
    .addColumn('needs_reseal', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  await sql`update secret_objects set needs_reseal = 1 where ${NEEDS_RESEAL}`.execute(database);
  await schema.dropIndex('secret_objects_by_slug').execute();
  const order = ['slug', 'created_at', 'id'];
  await schema.createIndex('secret_objects_by_slug').on('secret_objects').columns(order).execute();
  await schema
    .createIndex('secret_objects_by_reseal')
    .on('secret_objects')
    .columns(['needs_reseal', ...order])
    .execute();
  await sql`
    create index secret_objects_by_rotation on secret_objects ((updated_at + rotate_after_days * 86400000))
    where rotate_after_days is not null`.execute(database);
}

async function sortLinks(database: Kysely<unknown>): Promise<void> {
  const { schema } = database;
  for (const [table, name] of [
    ['secret_object_consumers', 'consumer'],
    ['secret_object_tags', 'tag'],
  ] as const) {
    const alter = () => schema.alterTable(table);
    await alter()
      .addColumn('slug', 'text', (column) => column.notNull().defaultTo(''))
      .execute();
    await alter()
      .addColumn('created_at', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();
    await sql`
      update ${sql.table(table)} set
        slug = (select slug from secret_objects where id = object_id),
        created_at = (select created_at from secret_objects where id = object_id)`.execute(database);
    await schema.dropIndex(`${table}_by_${name}`).execute();
    const columns = [name, 'slug', 'created_at', 'object_id'];
    await schema.createIndex(`${table}_by_${name}`).on(table).columns(columns).execute();
  }
}

/** The rule of `findResealReason` at the time of this migration. */
const NEEDS_RESEAL = sql`
  case when exists (
    select 1 from secret_object_recipients as r
    where r.object_id = secret_objects.id and r.version = secret_objects.version
  )
  then exists (
    select 1 from secret_object_consumers as c join secret_consumers as k on k.name = c.consumer
    where c.object_id = secret_objects.id and k.public_key is not null and not exists (
      select 1 from secret_object_recipients as r
      where r.object_id = secret_objects.id and r.version = secret_objects.version and r.recipient = k.public_key
    )
  ) or (
    not exists (
      select 1 from secret_object_consumers as c left join secret_consumers as k on k.name = c.consumer
      where c.object_id = secret_objects.id and k.public_key is null
    ) and exists (
      select 1 from secret_object_recipients as r
      where r.object_id = secret_objects.id and r.version = secret_objects.version
        and not exists (select 1 from secret_owner as o where o.public_key = r.recipient)
        and not exists (
          select 1 from secret_object_consumers as c join secret_consumers as k on k.name = c.consumer
          where c.object_id = secret_objects.id and k.public_key = r.recipient
        )
    )
  )
  else exists (
    select 1 from (
      select
        (select recipient_count from secret_object_values as v
          where v.object_id = secret_objects.id and v.version = secret_objects.version) as given,
        (select count(distinct k.public_key) from secret_object_consumers as c
          join secret_consumers as k on k.name = c.consumer where c.object_id = secret_objects.id) as wanted,
        (select count(*) from secret_object_consumers as c left join secret_consumers as k on k.name = c.consumer
          where c.object_id = secret_objects.id and k.public_key is null) as unknown
    ) as sealing
    where given < wanted or (wanted > 0 and unknown = 0 and given > wanted + 1)
  )
  end`;

/** Recipients that were chosen explicitly, and public keys that are longer than an index entry of PostgreSQL. */
export async function explicitRecipients(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .alterTable('secret_object_recipients')
    .addColumn('is_explicit', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  if (!(database.getExecutor().adapter instanceof PostgresAdapter)) return;
  await sql`alter table secret_object_recipients drop constraint secret_object_recipients_key`.execute(database);
  await sql`
    create unique index secret_object_recipients_key
    on secret_object_recipients (object_id, version, md5(recipient))`.execute(database);
}

/** The time of the next scheduled backup, and the lease of the server that makes it. */
export async function backupSchedule({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('backup_schedule')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('due_at', 'bigint', (column) => column.notNull())
    .addColumn('lease_holder', 'text')
    .addColumn('lease_until', 'bigint', (column) => column.notNull())
    .addColumn('last_name', 'text')
    .addColumn('last_at', 'bigint')
    .execute();
}

/** The repositories that a forge hides from the credential. */
export async function hiddenRepositories({ schema }: Kysely<unknown>): Promise<void> {
  await schema.alterTable('forge_states').addColumn('hidden', 'text').execute();
}

/** Facts of audit entries, such as digests of values; restrictions of tokens; public keys that names had before. */
export async function secretsTrust(database: Kysely<unknown>): Promise<void> {
  const { schema } = database;
  for (const table of ['audit_log', 'audit_pending']) {
    await schema.alterTable(table).addColumn('detail', 'text').execute();
  }
  await sql`create index audit_log_values on audit_log (variant_id, id) where detail is not null`.execute(database);
  await schema.alterTable('tokens').addColumn('access', 'text').execute();
  await schema
    .createTable('secret_retired_keys')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('public_key', 'text', (column) => column.notNull())
    .execute();
}

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
