import type { Kysely } from 'kysely';
import { sql } from '../kysely.js';

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
