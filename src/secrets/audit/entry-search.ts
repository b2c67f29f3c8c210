/** Searches the audit log by its indexes, each of which is in the order of the log. */
import type { RawBuilder } from 'kysely';
import type { Database } from '../../storage/database.js';
import { sql } from '../../storage/kysely.js';
import type { AuditLogTable } from '../../storage/tables.js';
import type { AuditFilter } from './log.js';

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
export async function findEntries(
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
export async function countEntries(database: Database, filter: EntryFilter): Promise<number> {
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
