/** Days as texts such as `2026-05-02`, which sort as they follow each other. */
import { DateTime } from 'luxon';
import type { components } from '../../generated/dashboard/types.js';

export type Unit = components['schemas']['ThroughputUnit'];

const DAY_MS = 86_400_000;

const LENGTHS: Readonly<Record<Unit, number>> = { day: 1, week: 7 };

/** Gives the day that a moment, in milliseconds, has in a zone of the IANA database. */
export function toDay(at: number, timezone: string): string {
  return DateTime.fromMillis(at, { zone: timezone }).toFormat('yyyy-MM-dd');
}

/** Days before it have a count below 0. */
export function addDays(day: string, count: number): string {
  return new Date(Date.parse(day) + count * DAY_MS).toISOString().slice(0, 10);
}

/** The day itself, or the Monday of its week. */
export function startOf(day: string, unit: Unit): string {
  return unit === 'day' ? day : addDays(day, -((new Date(day).getUTCDay() + 6) % 7));
}

/** Lists the first days of all units that have a day of a span, oldest first. */
export function listStarts({ from, to }: { readonly from: string; readonly to: string }, unit: Unit): string[] {
  const starts: string[] = [];
  for (let start = startOf(from, unit); start <= to; start = addDays(start, LENGTHS[unit])) starts.push(start);
  return starts;
}
