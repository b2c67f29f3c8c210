/** Calendar days as strings such as `2026-05-02`, which sort chronologically. */
import { DateTime } from 'luxon';
import type { components } from '../../generated/dashboard/types.js';

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
