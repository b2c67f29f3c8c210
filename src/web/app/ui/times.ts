import { signal } from '@preact/signals';

/** The time zone of the user's settings; empty uses that of the browser, which may hide the real one. */
export const timezone = signal('');

const options = (): Intl.DateTimeFormatOptions => (timezone.value === '' ? {} : { timeZone: timezone.value });

export const formatDate = (time: string): string =>
  new Date(time).toLocaleDateString(undefined, { dateStyle: 'medium', ...options() });

/** Formats a day such as `2026-05-03`, which is the same in every time zone. */
export const formatDay = (day: string): string =>
  new Date(`${day}T00:00Z`).toLocaleDateString(undefined, { dateStyle: 'medium', timeZone: 'UTC' });

export const formatDateTime = (time: string): string =>
  new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short', ...options() });

/** Formats a time without its date. */
export const formatTime = (moment: number): string =>
  new Date(moment).toLocaleTimeString(undefined, { timeStyle: 'short', ...options() });

const UNITS = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/**
 * Formats the distance to a time in its largest unit, such as "3 days ago" or "in 12 minutes"; "now" within a minute.
 *
 * Always in English, like the pages. `Intl.RelativeTimeFormat` takes about 140 ms to load on a phone.
 */
export function formatRelativeTime(time: string, now = Date.now()): string {
  const seconds = (Date.parse(time) - now) / 1000;
  const unit = UNITS.find(([, length]) => Math.abs(seconds) >= length);
  if (unit === undefined) return 'now';
  const [name, length] = unit;
  const count = Math.trunc(Math.abs(seconds) / length);
  const span = `${count} ${name}${count === 1 ? '' : 's'}`;
  return seconds < 0 ? `${span} ago` : `in ${span}`;
}
