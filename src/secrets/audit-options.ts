import { sql } from 'kysely';
import type { Database } from '../storage/database.js';

/** Of each kind of value at most; more is nothing to choose from. */
const MAX_OPTIONS = 1_000;

/** What the entries hold that the log can be filtered by, each sorted. */
export interface AuditOptions {
  readonly slugs: readonly string[];
  readonly actors: readonly AuditActorOption[];
  readonly callers: readonly string[];
}

export interface AuditActorOption {
  /** What the filter takes. */
  readonly value: string;
  /** As people read it. */
  readonly label: string;
}

export async function listAuditOptions(database: Database): Promise<AuditOptions> {
  return {
    slugs: await listDistinct(database, 'slug'),
    actors: await listActors(database),
    callers: await listDistinct(database, 'caller'),
  };
}

async function listActors(database: Database): Promise<AuditActorOption[]> {
  const ids = await listDistinct(database, 'actor_id');
  const known = database.selectFrom('audit_log').select(['actor_id', 'actor_type']).distinct();
  const rows = ids.length === 0 ? [] : await known.where('actor_id', 'in', ids).execute();
  const types = new Map(rows.map(({ actor_id, actor_type }) => [actor_id, actor_type]));
  const actors = ids.map((value) => ({ value, label: toLabel(value, types.get(value)) }));
  const nobody = database.selectFrom('audit_log').select('id').where('actor_id', 'is', null).limit(1);
  return (await nobody.executeTakeFirst()) === undefined ? actors : [...actors, { value: 'none', label: 'none' }];
}

function toLabel(id: string, type: string | null | undefined): string {
  return type === 'token' || type === 'consumer_token' ? `${type}:${id}` : id;
}

/** Goes from value to value in the column's index, and so takes as long as there are values, not entries. */
async function listDistinct(database: Database, column: 'actor_id' | 'caller' | 'slug'): Promise<string[]> {
  const name = sql.ref(column);
  const { rows } = await sql<{ value: string }>`
    with recursive found (value) as (
      select min(${name}) from audit_log
      union all
      select (select min(${name}) from audit_log where ${name} > found.value) from found where found.value is not null
    )
    select value from found where value is not null limit ${sql.lit(MAX_OPTIONS)}`.execute(database);
  return rows.map(({ value }) => value);
}
