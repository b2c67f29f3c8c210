import { limitConcurrency } from '@trellis/core/concurrency';
import type { RawBuilder } from 'kysely';
import type { Caller } from '../../accounts/callers.js';
import type { Database } from '../../storage/database.js';
import { sql } from '../../storage/kysely.js';
import type { AuditLogTable } from '../../storage/tables.js';
import { requireUnrestricted } from '../token-scope.js';
import { type Actor, type AuditAction, type AuditDetail, readAuditHead, type SubjectType } from './chain.js';
import { sequenceAuditEntries } from './sequence.js';
import { readArchivedHead, type Verification, type VerificationRequest, verifyAuditChain } from './verify-chain.js';
import { type ValueVerification, verifyValues } from './verify-values.js';

export interface AuditEntry {
  readonly id: number;
  readonly action: AuditAction;
  readonly subjectType: SubjectType | 'object';
  /** For secrets only, like `variantId` and `version`. */
  readonly slug: string | undefined;
  readonly variantId: string | undefined;
  /** The previous version that was read or restored. */
  readonly version: number | undefined;
  /** For all other subjects: the name of a consumer, the id of a token or passkey, or a public key. */
  readonly subjectId: string | undefined;
  /** The slug or name before the change. */
  readonly previousName: string | undefined;
  readonly at: Date;
  readonly ip: string;
  readonly caller: string | undefined;
  readonly actor: Actor | undefined;
  readonly detail: AuditDetail;
  /** The hash of the entry, and the text of `detail` that it includes. */
  readonly chained: { readonly hash: string; readonly facts: string | undefined };
}

/** The conditions for entries; all given ones must match. */
export interface AuditFilter {
  readonly slug?: string;
  readonly subjectType?: AuditEntry['subjectType'];
  readonly caller?: string;
  /** The id of an actor; `none` matches entries without a credential. */
  readonly actor?: string;
  readonly from?: Date;
  /** Exclusive. */
  readonly to?: Date;
  /** Continues after the entry with this id, in the given order. */
  readonly after?: number;
  readonly order?: 'asc' | 'desc';
  readonly limit?: number;
}

interface AuditPage {
  readonly entries: readonly AuditEntry[];
  /** The number of matches on all pages; see {@link countEntries} for its limit. */
  readonly total: number;
  /** The value of `after` for the next page; `undefined` on the last one. */
  readonly next: number | undefined;
}

/**
 * The audit log. All methods require the owner, and include every entry that was committed before the call: pending ones
 * get their place in the chain first, so that ids and their order never change.
 */
export interface AuditLog {
  query(caller: Caller | undefined, filter: AuditFilter): Promise<AuditPage>;
  listFilterOptions(caller: Caller | undefined): Promise<AuditFilterOptions>;
  /** Verifies the chain, and the values that it records. @throws AppError `invalid_input` for `entries` without `head` or the reverse. */
  verify(caller: Caller | undefined, request?: VerificationRequest): Promise<FullVerification>;
}

/** The result for the chain, and for the values that it records. */
type FullVerification = Verification & { readonly values: ValueVerification };

const DEFAULT_LIMIT = 50;

/** A verification reads the whole log, so only one runs at a time. */
const VERIFICATIONS_AT_ONCE = 1;

export function createAuditLog(database: Database): AuditLog {
  const verifyInTurn = limitConcurrency(VERIFICATIONS_AT_ONCE);
  return {
    async query(caller, { after, order = 'asc', limit = DEFAULT_LIMIT, ...filter }) {
      requireUnrestricted(caller);
      await sequenceAuditEntries(database);
      const [rows, counted] = await Promise.all([
        findEntries(database, filter, { after, order, limit: limit + 1 }),
        isUnfiltered(filter) ? countAll(database) : countEntries(database, filter),
      ]);
      const total = Math.max(counted, rows.length);
      const entries = rows.slice(0, limit).map(toEntry);
      return { entries, total, next: rows.length > limit ? entries.at(-1)?.id : undefined };
    },
    async listFilterOptions(caller) {
      requireUnrestricted(caller);
      await sequenceAuditEntries(database);
      return listAuditFilterOptions(database);
    },
    async verify(caller, request) {
      requireUnrestricted(caller);
      await sequenceAuditEntries(database);
      return verifyInTurn(async () => ({
        ...(await verifyAuditChain(database, request)),
        values: await verifyValues(database, request),
      }));
    },
  };
}

/** Returns the size of the log by its ends. Counting it would be slow, as every read of a value adds an entry. */
async function countAll(database: Database): Promise<number> {
  const [head, base] = await Promise.all([readAuditHead(database), readArchivedHead(database)]);
  return head.count - base.count;
}

const isUnfiltered = (filter: AuditFilter): boolean => Object.values(filter).every((value) => value === undefined);

function toEntry(row: AuditLogTable): AuditEntry {
  return {
    id: row.id,
    // The cast is safe: only appendAuditEntries() writes to this table.
    action: row.action as AuditAction,
    subjectType: row.subject_type as AuditEntry['subjectType'],
    slug: row.slug ?? undefined,
    variantId: row.variant_id ?? undefined,
    version: row.version ?? undefined,
    subjectId: row.subject_id ?? undefined,
    previousName: row.previous_name ?? undefined,
    at: new Date(row.at),
    ip: row.ip,
    caller: row.caller ?? undefined,
    actor: toOptionalActor(row),
    detail: row.detail === null ? {} : (JSON.parse(row.detail) as AuditDetail),
    chained: { hash: row.hash, facts: row.detail ?? undefined },
  };
}

function toOptionalActor({ actor_type, actor_id }: AuditLogTable): Actor | undefined {
  return actor_type === null || actor_id === null ? undefined : { type: actor_type as Actor['type'], id: actor_id };
}

/** The limit for each kind of value; a longer list is useless for selection. */
const MAX_OPTIONS = 1_000;

/** The distinct values of the log that it can be filtered by, sorted. */
interface AuditFilterOptions {
  readonly slugs: readonly string[];
  readonly actors: readonly AuditActorOption[];
  readonly callers: readonly string[];
}

interface AuditActorOption {
  /** The value for the filter. */
  readonly value: string;
  /** The text to display. */
  readonly label: string;
}

async function listAuditFilterOptions(database: Database): Promise<AuditFilterOptions> {
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
  if ((await anonymous.executeTakeFirst()) === undefined) return actors;
  return [...actors.slice(0, MAX_OPTIONS - 1), { value: 'none', label: 'none' }];
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

// Searches the audit log by its indexes, each of which is in the order of the log.

/** The conditions for entries. */
type EntryFilter = Omit<AuditFilter, 'after' | 'limit' | 'order'>;

type EntryPage = Required<Pick<AuditFilter, 'limit' | 'order'>> & Pick<AuditFilter, 'after'>;

/** Counting stops here, so that it costs less than the page. */
const MAX_COUNT = 10_000;

/** Entries that match one condition and are tested for the others while counting. */
const MAX_COUNT_TESTED = 2_000;

/** Entries that match one condition and are tested for the others, or are sorted, which costs more for each. */
const MAX_TESTED = 10_000;

/** Reads one page of matching entries. */
async function findEntries(
  database: Database,
  filter: EntryFilter,
  { after, order, limit }: EntryPage,
): Promise<AuditLogTable[]> {
  const { entries, tests, isSmall } = await toSearch(database, filter);
  const sorted = sql`order by id ${sql.raw(order)}`;
  const isAfter = after === undefined ? [] : [order === 'asc' ? sql`id > ${after}` : sql`id < ${after}`];
  if (tests.length > 0) {
    // Usually a few matches follow each other. The inner limit bounds the time if they are elsewhere in the log.
    const near = await sql<AuditLogTable>`
      select * from (
        select * from audit_log where ${and([...entries, ...isAfter])} ${sorted} limit ${sql.lit(MAX_TESTED)}
      ) as entry where ${and(tests)} ${sorted} limit ${limit}`.execute(database);
    if (isSmall || near.rows.length === limit) return near.rows;
  }
  const conditions = [...entries, ...tests, ...isAfter];
  const page = sql<AuditLogTable>`select * from audit_log where ${and(conditions)} ${sorted} limit ${limit}`;
  return (await page.execute(database)).rows;
}

/** Counts matching entries: at most 10,000, and among the first 2,000 of one condition if there are several. */
async function countEntries(database: Database, filter: EntryFilter): Promise<number> {
  const range = toRange(filter);
  if (range !== undefined && toConditions(filter).length === 0) {
    return countUpTo(database, sql`select id from audit_log where ${range}`, MAX_COUNT);
  }
  const { entries, tests } = await toSearch(database, filter);
  if (tests.length === 0) return countUpTo(database, sql`select id from audit_log where ${and(entries)}`, MAX_COUNT);
  const tested = sql`select * from audit_log where ${and(entries)} limit ${sql.lit(MAX_COUNT_TESTED)}`;
  return countUpTo(database, sql`select id from (${tested}) as entry where ${and(tests)}`, MAX_COUNT_TESTED);
}

type Condition = RawBuilder<unknown>;

interface Search {
  /** The condition with the fewest matches, which has an index; none for the whole log. */
  readonly entries: readonly Condition[];
  /** Whether fewer than {@link MAX_TESTED} entries match the condition. */
  readonly isSmall: boolean;
  /** The remaining conditions. */
  readonly tests: readonly Condition[];
}

async function toSearch(database: Database, filter: EntryFilter): Promise<Search> {
  const conditions = toConditions(filter);
  const range = toRange(filter);
  if (range !== undefined) {
    const ids = sql`select id from audit_log where ${range}`;
    // Entries of a short time are sorted. The limit makes the database use the index of the subquery.
    const isShort = (await countUpTo(database, ids, MAX_TESTED)) < MAX_TESTED;
    const entries = [sql`id in (${ids} limit ${sql.lit(MAX_TESTED)})`];
    if (isShort) return { entries, isSmall: true, tests: conditions };
  }
  const { chosen, fewest } = await findFewest(database, conditions);
  const tests = [...conditions.filter((condition) => condition !== chosen), ...(range === undefined ? [] : [range])];
  return { entries: chosen === undefined ? [] : [chosen], isSmall: fewest < MAX_TESTED, tests };
}

async function findFewest(database: Database, conditions: readonly Condition[]) {
  let [chosen] = conditions;
  let fewest = Infinity;
  for (const condition of conditions) {
    const matching = sql`select id from audit_log where ${condition}`;
    const count = await countUpTo(database, matching, Math.min(fewest, MAX_TESTED));
    if (count >= fewest) continue;
    chosen = condition;
    fewest = count;
  }
  return { chosen, fewest };
}

function toConditions({ slug, subjectType, caller, actor }: EntryFilter): Condition[] {
  return [
    ...(slug === undefined ? [] : [sql`slug = ${slug}`]),
    ...(subjectType === undefined ? [] : [sql`subject_type = ${subjectType}`]),
    ...(caller === undefined ? [] : [sql`caller = ${caller}`]),
    ...(actor === undefined ? [] : [actor === 'none' ? sql`actor_id is null` : sql`actor_id = ${actor}`]),
  ];
}

function toRange({ from, to }: EntryFilter): Condition | undefined {
  if (from === undefined && to === undefined) return undefined;
  return and([
    ...(from === undefined ? [] : [sql`at >= ${from.getTime()}`]),
    ...(to === undefined ? [] : [sql`at < ${to.getTime()}`]),
  ]);
}

function and(conditions: readonly Condition[]): Condition {
  return conditions.length === 0 ? sql`true` : sql.join([...conditions], sql` and `);
}

async function countUpTo(database: Database, rows: Condition, limit: number): Promise<number> {
  const counted = sql<{ count: number }>`select count(*) as count from (${rows} limit ${sql.lit(limit)}) as counted`;
  const [{ count } = { count: 0 }] = (await counted.execute(database)).rows;
  return count;
}
