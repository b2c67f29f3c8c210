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
  const [slugs, actors, callers] = [
    await listDistinct(database, 'slug'),
    await listActors(database),
    await listDistinct(database, 'caller'),
  ];
  return { slugs: slugs.map(({ value }) => value), actors, callers: callers.map(({ value }) => value) };
}

async function listActors(database: Database): Promise<AuditActorOption[]> {
  const actors = (await listDistinct(database, 'actor_id')).map(toOption);
  const nobody = database.selectFrom('audit_log').select('id').where('actor_id', 'is', null).limit(1);
  return (await nobody.executeTakeFirst()) === undefined ? actors : [...actors, { value: 'none', label: 'none' }];
}

function toOption({ value, type }: Distinct): AuditActorOption {
  return { value, label: type === 'token' || type === 'consumer_token' ? `${type}:${value}` : value };
}

interface Distinct {
  readonly value: string;
  /** That of an actor in one of the entries. */
  readonly type: string | null;
}

/** Goes from value to value in the column's index, and so takes as long as there are values, not entries. */
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
