const UNITS = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/**
 * How long ago a time is, or how soon it comes, in its largest unit; "now" within the minute.
 *
 * In the language of the pages, as every word beside it. What browsers have for this takes a phone a seventh of a
 * second to load.
 */
export function toAge(time: string, now = Date.now()): string {
  const seconds = (Date.parse(time) - now) / 1000;
  const unit = UNITS.find(([, length]) => Math.abs(seconds) >= length);
  if (unit === undefined) return 'now';
  const [name, length] = unit;
  const count = Math.trunc(Math.abs(seconds) / length);
  const span = `${count} ${name}${count === 1 ? '' : 's'}`;
  return seconds < 0 ? `${span} ago` : `in ${span}`;
}
