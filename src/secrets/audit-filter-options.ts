import { sql } from 'kysely';
import type { Database } from '../storage/database.js';

/** The limit for each kind of value; a longer list is useless for selection. */
const MAX_OPTIONS = 1_000;

/** The distinct values of the log that it can be filtered by, sorted. */
export interface AuditFilterOptions {
  readonly slugs: readonly string[];
  readonly actors: readonly AuditActorOption[];
  readonly callers: readonly string[];
}

export interface AuditActorOption {
  /** The value for the filter. */
  readonly value: string;
  /** The text to display. */
  readonly label: string;
}

export async function listAuditFilterOptions(database: Database): Promise<AuditFilterOptions> {
  const [slugs, actors, callers] = [
    await listDistinct(database, 'slug'),
    await listActors(database),
    await listDistinct(database, 'caller'),
  ];
  return { slugs: slugs.map(({ value }) => value), actors, callers: callers.map(({ value }) => value) };
}

async function listActors(database: Database): Promise<AuditActorOption[]> {
  const actors = (await listDistinct(database, 'actor_id')).map(toOption);
  const anonymous = database.selectFrom('audit_log').select('id').where('actor_id', 'is', null).limit(1);
  return (await anonymous.executeTakeFirst()) === undefined ? actors : [...actors, { value: 'none', label: 'none' }];
}

function toOption({ value, type }: Distinct): AuditActorOption {
  return { value, label: type === 'token' || type === 'consumer_token' ? `${type}:${value}` : value };
}

interface Distinct {
  readonly value: string;
  /** The actor type of one entry with this value. */
  readonly type: string | null;
}

/** Lists the distinct values by a loose index scan, whose time grows with the values, not with the entries. */
async function listDistinct(database: Database, column: 'actor_id' | 'caller' | 'slug'): Promise<Distinct[]> {
  const name = sql.ref(column);
  const { rows } = await sql<Distinct>`
    with recursive found (value) as (
      select min(${name}) from audit_log
      union all
      select (select min(${name}) from audit_log where ${name} > found.value) from found where found.value is not null
    )
    select value, (select actor_type from audit_log where ${name} = found.value limit 1) as type
    from found where value is not null limit ${sql.lit(MAX_OPTIONS)}`.execute(database);
  return rows;
}
