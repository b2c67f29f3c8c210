import { signal } from '@preact/signals';

/** The time zone of the user's settings; empty uses that of the browser, which may hide the real one. */
export const timezone = signal('');

/** The time of the server minus that of the browser, whose clock may be wrong by hours. */
let clockOffsetMs = 0;

/** A smaller difference may come from the network, and from the response, which names the time to a second. */
const MIN_OFFSET_MS = 10_000;

/** Compares the clocks of the server and of the browser. */
export function recordServerTime({ headers }: Response): void {
  const offsetMs = Date.parse(headers.get('Date') ?? '') - Date.now();
  if (!Number.isNaN(offsetMs)) clockOffsetMs = Math.abs(offsetMs) < MIN_OFFSET_MS ? 0 : offsetMs;
}

/** Returns the time of the server, in milliseconds since the epoch. */
export const serverNow = (): number => Date.now() + clockOffsetMs;

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

const DAY_MS = 86_400_000;

/** Returns a day such as `2026-05-03`: a number of days from today, in the time zone of the user. */
export const dayFromNow = (days: number): string => shiftDay(readClock(serverNow()).slice(0, 10), days);

/** Returns the day that is a number of days later. */
export const shiftDay = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);

/**
 * Returns the moment at which a day reaches a time such as `07:00`, in the time zone of the user. If clocks are put forward
 * over this time, they show a later one at this moment; if they are put back, it is the first of two.
 */
export function toMoment(day: string, time: string): Date {
  const wanted = Date.parse(`${day}T${time}Z`);
  const readOffset = (moment: number): number => Date.parse(readClock(moment)) - moment;
  const [before = NaN, after = NaN] = [wanted - DAY_MS, wanted + DAY_MS].map((near) => wanted - readOffset(near));
  const isShown = (moment: number): boolean => moment + readOffset(moment) === wanted;
  return new Date(!isShown(before) && isShown(after) ? after : before);
}

/** Returns the date and time that a clock in the time zone of the user shows, as if it were UTC. Swedish uses ISO 8601. */
const readClock = (moment: number): string =>
  `${new Date(moment).toLocaleString('sv', options()).padStart(19, '0').replace(' ', 'T')}Z`;

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
export function formatRelativeTime(time: string, now = serverNow()): string {
  const seconds = (Date.parse(time) - now) / 1000;
  const unit = UNITS.find(([, length]) => Math.abs(seconds) >= length);
  if (unit === undefined) return 'now';
  const [name, length] = unit;
  const count = Math.trunc(Math.abs(seconds) / length);
  const span = `${count} ${name}${count === 1 ? '' : 's'}`;
  return seconds < 0 ? `${span} ago` : `in ${span}`;
}

/** Formats the age of data, such as "3 days ago". */
export const formatAge = (time: string): string => formatRelativeTime(time).replace(/^now$/, 'less than a minute ago');
