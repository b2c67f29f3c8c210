import type { components } from '../../generated/dashboard/types.js';
import type { Database } from '../../storage/database.js';
import { sql } from '../../storage/kysely.js';
import { DateTime, IANAZone } from './luxon.js';

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
export async function addDailyCounts(
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

export type ThroughputUnit = components['schemas']['ThroughputUnit'];

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
