import { type Caller, requireUser, type UserCaller } from '../../accounts/callers.js';
import type { components } from '../../generated/dashboard/types.js';
import type { Database } from '../../storage/database.js';
import { sql } from '../../storage/kysely.js';
import type { ForgeName, ForgePullRequest, RepositorySnapshot } from '../forges/forge.js';
import { MAX_PULL_REQUESTS } from '../forges/read-repositories.js';
import { DateTime, IANAZone } from './luxon.js';

type ThroughputBody = components['schemas']['Throughput'];

export interface ThroughputRequest {
  /** The username of an owner who shares their board; by default the caller. */
  readonly owner?: string;
  /** The number of days, today included. */
  readonly days: number;
  readonly per: ThroughputUnit;
}

/** Counts of opened and closed pull requests over time. */
export interface Throughput {
  /** @throws AppError `not_found` for an unknown owner, `forbidden` if the owner doesn't share the board. */
  read(caller: Caller | undefined, request: ThroughputRequest): Promise<ThroughputBody>;
}

interface ThroughputOptions {
  readonly database: Database;
  /** Returns the id of the owner whose board the caller may read. Throws for any other. */
  readonly getOwnerId: (caller: UserCaller, username?: string) => Promise<string>;
  readonly now?: () => number;
}

export function createThroughput({ database, getOwnerId, now = Date.now }: ThroughputOptions): Throughput {
  return {
    async read(caller, { owner, days, per }) {
      const ownerId = await getOwnerId(requireUser(caller), owner);
      const timezone = await readTimezone(database, ownerId);
      const since = await findFirstDay(database, ownerId);
      if (since === undefined) return { timezone, per, periods: [] };
      const today = toDayInZone(now(), timezone);
      const first = addDays(today, 1 - days);
      // The first counted day can lie in the future, if the time zone has changed since.
      const from = first > since || since > today ? first : since;
      return { timezone, since, per, periods: await readPeriods(database, ownerId, { from, to: today, per }) };
    },
  };
}

/** Ignores days without a board: pull requests that a later refresh found may have been opened on them. */
async function findFirstDay(database: Database, personId: string): Promise<string | undefined> {
  const days = database.selectFrom('throughput_days').select('day').where('person_id', '=', personId);
  return (await days.where('open_count', 'is not', null).orderBy('day').limit(1).executeTakeFirst())?.day;
}

interface Span {
  readonly from: string;
  readonly to: string;
  readonly per: ThroughputUnit;
}

async function readPeriods(database: Database, personId: string, span: Span): Promise<ThroughputBody['periods']> {
  const { to, per } = span;
  const starts = listUnitStarts(span, per);
  const periods = new Map<string, Period>(starts.map((start) => [start, { start, opened: 0, left: 0 }]));
  const days = database.selectFrom('throughput_days').selectAll().where('person_id', '=', personId);
  const from = startOfUnit(span.from, per);
  for (const row of await days.where('day', '>=', from).where('day', '<=', to).orderBy('day').execute()) {
    const period = periods.get(startOfUnit(row.day, per));
    if (period === undefined) continue;
    period.opened += row.opened_count;
    period.left += row.left_count;
    if (row.open_count !== null) period.open = row.open_count;
  }
  return [...periods.values()];
}

interface Period {
  readonly start: string;
  opened: number;
  left: number;
  open?: number;
}

/** A year, the rest of its first week, and a margin. */
const RETENTION_DAYS = 400;

/** Applies to users who have not chosen a time zone. */
const DEFAULT_ZONE = 'UTC';

/** Returns the time zone of a user's days: the one that they chose, if this server knows it. */
export async function readTimezone(database: Database, personId: string): Promise<string> {
  const settings = database.selectFrom('settings').select('timezone').where('person_id', '=', personId);
  const { timezone = '' } = (await settings.executeTakeFirst()) ?? {};
  return IANAZone.isValidZone(timezone) ? timezone : DEFAULT_ZONE;
}

/** The pull requests that were opened and closed between two snapshots. */
export interface SnapshotDiff {
  /** The time when each pull request was opened, in milliseconds. */
  readonly opened: readonly number[];
  /** The number of pull requests that were merged or closed. */
  readonly closed: number;
}

/**
 * Adds counts of opened and closed pull requests to the stored days. Call it once, in the transaction that saves the
 * compared snapshots.
 */
async function addDailyCounts(
  transaction: Database,
  personId: string,
  { opened, closed, at }: SnapshotDiff & { readonly at: number },
): Promise<void> {
  const timezone = await readTimezone(transaction, personId);
  const rows = new Map<string, { opened_count: number; left_count: number }>();
  const rowOf = (time: number) => {
    const day = toDayInZone(time, timezone);
    const row = rows.get(day) ?? { opened_count: 0, left_count: 0 };
    rows.set(day, row);
    return row;
  };
  for (const time of opened) rowOf(time).opened_count += 1;
  if (closed > 0) rowOf(at).left_count += closed;
  if (rows.size === 0) return;
  await transaction
    .insertInto('throughput_days')
    .values(Array.from(rows, ([day, row]) => ({ person_id: personId, day, open_count: null, ...row })))
    .onConflict((conflict) =>
      conflict.columns(['person_id', 'day']).doUpdateSet({
        opened_count: sql`throughput_days.opened_count + excluded.opened_count`,
        left_count: sql`throughput_days.left_count + excluded.left_count`,
      }),
    )
    .execute();
}

/** Stores the current number of open pull requests of a board. Replaces the number of earlier boards of the day. */
export async function setOpenCount(
  transaction: Database,
  personId: string,
  { open, at }: { readonly open: number; readonly at: number },
): Promise<void> {
  const day = toDayInZone(at, await readTimezone(transaction, personId));
  await transaction
    .insertInto('throughput_days')
    .values({ person_id: personId, day, opened_count: 0, left_count: 0, open_count: open })
    .onConflict((conflict) => conflict.columns(['person_id', 'day']).doUpdateSet({ open_count: open }))
    .execute();
}

/** Deletes days that are older than the longest period that the API offers. */
export async function deleteOldDays(database: Database, at: number): Promise<void> {
  const first = addDays(new Date(at).toISOString(), -RETENTION_DAYS);
  await database.deleteFrom('throughput_days').where('day', '<', first).execute();
}

// Calendar days are strings such as `2026-05-02`, which sort chronologically.

type ThroughputUnit = components['schemas']['ThroughputUnit'];

const DAY_MS = 86_400_000;

const DAYS_PER_UNIT: Readonly<Record<ThroughputUnit, number>> = { day: 1, week: 7 };

/** Returns the day of a time, in milliseconds, in an IANA time zone. */
export function toDayInZone(at: number, timezone: string): string {
  return DateTime.fromMillis(at, { zone: timezone }).toFormat('yyyy-MM-dd');
}

/** Returns an earlier day for a negative count. */
export function addDays(day: string, count: number): string {
  return new Date(Date.parse(day) + count * DAY_MS).toISOString().slice(0, 10);
}

/** Returns the first day of the unit that contains the day; weeks start on Monday. */
export function startOfUnit(day: string, unit: ThroughputUnit): string {
  return unit === 'day' ? day : addDays(day, -((new Date(day).getUTCDay() + 6) % 7));
}

/** Lists the first days of all units that overlap a span, oldest first. */
export function listUnitStarts(
  { from, to }: { readonly from: string; readonly to: string },
  unit: ThroughputUnit,
): string[] {
  const starts: string[] = [];
  for (let start = startOfUnit(from, unit); start <= to; start = addDays(start, DAYS_PER_UNIT[unit]))
    starts.push(start);
  return starts;
}

interface ForgeKey {
  readonly personId: string;
  readonly forge: ForgeName;
  /** The credential. */
  readonly connection: string;
}

interface NewSnapshot {
  readonly snapshot: RepositorySnapshot;
  readonly isTruncated: boolean;
}

interface NewSnapshots {
  readonly readings: readonly NewSnapshot[];
  readonly readAt: number;
}

/**
 * Counts the pull requests that were opened and closed between the stored snapshots and the new ones. Call it in the
 * transaction that replaces them, before it does. For a repository without a snapshot, pull requests count as opened if
 * they were created after the last successful read of the forge; without such a read, nothing is counted.
 */
export async function recordThroughput(
  transaction: Database,
  place: ForgeKey,
  { readings, readAt }: NewSnapshots,
): Promise<void> {
  const stored = await readStored(transaction, place, readings);
  const placeholder = stored.size < readings.length ? await findPlaceholder(transaction, place) : undefined;
  const moved = readings.flatMap((reading) => {
    const before = stored.get(reading.snapshot.repository.id) ?? placeholder;
    // An older snapshot does not replace a newer one.
    if (before === undefined || before.readAt > readAt) return [];
    const movements = diffSnapshots(before, toCompared(reading, readAt));
    return movements.opened.length + movements.closed === 0 ? [] : [{ fullName: fullNameOf(reading), ...movements }];
  });
  if (moved.length === 0) return;
  const ignored = await readIgnored(transaction, place);
  const counted = moved.filter(({ fullName }) => !ignored.has(fullName));
  await addDailyCounts(transaction, place.personId, { ...sum(counted), at: readAt });
}

/** In lower case, like `repository_marks.repo`. */
const fullNameOf = ({ snapshot }: NewSnapshot): string => snapshot.repository.fullName.toLowerCase();

const toCompared = ({ snapshot, isTruncated }: NewSnapshot, readAt: number): ComparedSnapshot => ({
  readAt,
  isTruncated,
  pullRequests: snapshot.pullRequests,
});

const sum = (all: readonly SnapshotDiff[]): SnapshotDiff => ({
  opened: all.flatMap(({ opened }) => opened),
  closed: all.reduce((total, { closed }) => total + closed, 0),
});

async function readStored(
  transaction: Database,
  { personId, connection }: ForgeKey,
  readings: readonly NewSnapshot[],
): Promise<ReadonlyMap<string, ComparedSnapshot>> {
  const ids = readings.map(({ snapshot }) => snapshot.repository.id);
  const rows = await transaction
    .selectFrom('forge_readings')
    .select(['repository_id', 'read_at', 'is_cut', 'yours_only', 'facts'])
    .where('person_id', '=', personId)
    .where('forge', '=', connection)
    .where('repository_id', 'in', ids)
    .execute();
  return new Map(
    rows.map(({ repository_id, read_at, is_cut, yours_only, facts }) => {
      const { pullRequests } = JSON.parse(facts) as Pick<RepositorySnapshot, 'pullRequests'>;
      return [repository_id, { readAt: read_at, isTruncated: is_cut + yours_only > 0, pullRequests }];
    }),
  );
}

/** Returns an empty, truncated snapshot as of the forge's last successful read, for repositories without one. */
async function findPlaceholder(
  transaction: Database,
  { personId, connection }: ForgeKey,
): Promise<ComparedSnapshot | undefined> {
  const states = transaction.selectFrom('forge_states').select('read_at').where('person_id', '=', personId);
  const { read_at = null } = (await states.where('forge', '=', connection).executeTakeFirst()) ?? {};
  return read_at === null ? undefined : { readAt: read_at, isTruncated: true, pullRequests: [] };
}

async function readIgnored(transaction: Database, { personId, forge }: ForgeKey): Promise<ReadonlySet<string>> {
  const marks = transaction.selectFrom('repository_marks').select('repo').where('person_id', '=', personId);
  const rows = await marks.where('forge', '=', forge).where('ignored_prs', '=', 1).execute();
  return new Set(rows.map(({ repo }) => repo));
}

interface ComparedSnapshot {
  /** In milliseconds. */
  readonly readAt: number;
  /** Whether pull requests may be missing from the snapshot. */
  readonly isTruncated: boolean;
  readonly pullRequests: readonly Pick<ForgePullRequest, 'createdAt' | 'number'>[];
}

/**
 * Compares a snapshot with the previous one.
 *
 * The creation time that the forge reports is clamped to the time between both snapshots, because a reopened pull
 * request was created earlier. After a truncated snapshot, only pull requests that were created later count as opened.
 */
export function diffSnapshots(before: ComparedSnapshot, after: ComparedSnapshot): SnapshotDiff {
  const [known, listed] = [numbersOf(before), numbersOf(after)];
  const opened = after.pullRequests.filter(
    (one) => !known.has(one.number) && (!isTruncated(before) || Date.parse(one.createdAt) > before.readAt),
  );
  const left = isTruncated(after) ? [] : before.pullRequests.filter(({ number }) => !listed.has(number));
  return { opened: opened.map((one) => openedAt(one, before, after)), closed: left.length };
}

const numbersOf = ({ pullRequests }: ComparedSnapshot): ReadonlySet<number> =>
  new Set(pullRequests.map(({ number }) => number));

const isTruncated = (reading: ComparedSnapshot): boolean =>
  reading.isTruncated || reading.pullRequests.length >= MAX_PULL_REQUESTS;

function openedAt(
  { createdAt }: Pick<ForgePullRequest, 'createdAt'>,
  before: ComparedSnapshot,
  after: ComparedSnapshot,
): number {
  const created = Date.parse(createdAt);
  return Number.isNaN(created) ? after.readAt : Math.min(Math.max(created, before.readAt), after.readAt);
}
