import { DateTime } from 'luxon';
import { formatMoment, isMomentFormat } from './moment-format.js';

export interface DateArguments {
  readonly difference?: string | null;
  readonly formatString?: string | null;
  readonly fromNow?: boolean | null;
  readonly locale?: string | null;
}

/** Formats a stored date, or each date of a list, by the arguments of its field. */
export type FormatDate = (value: unknown, args: DateArguments) => unknown;

/** The token set of `formatString`; `auto` selects Moment for a string with a token that only Moment has. */
export type DateDialect = 'auto' | 'luxon' | 'moment';

export interface DateOptions {
  readonly dialect?: DateDialect;
  /** The current time, for `fromNow` and `difference`. */
  readonly now?: () => number;
}

const INVALID = 'Invalid date';

/** No useful format, locale or date is longer. */
const MAX_TEXT = 500;

/**
 * Creates a date formatter. `formatString` takes precedence over `fromNow`, which takes precedence over `difference`;
 * without any of them, the stored text is returned.
 */
export function createFormatDate({ dialect = 'auto', now = Date.now }: DateOptions = {}): FormatDate {
  const format: FormatDate = (value, args) => {
    if (value === null || value === undefined) return null;
    if (!args.formatString && !args.fromNow && !args.difference) return value;
    if (Array.isArray(value)) return value.map((one) => format(one, args));
    const date = typeof value === 'string' ? parseDate(value) : undefined;
    if (args.formatString)
      return date ? formatTokens(date, args.formatString, { locale: args.locale, dialect }) : INVALID;
    if (args.fromNow) return date ? relative(date, args.locale, now()) : INVALID;
    return date ? difference(date, args.difference ?? '', now()) : null;
  };
  return format;
}

/** Parses strict ISO 8601 in UTC, with `T` or a space before the time. */
function parseDate(text: string): DateTime | undefined {
  if (text.length > MAX_TEXT || !/^[+-]?\d{4}/.test(text)) return undefined;
  const date = DateTime.fromISO(text.replace(' ', 'T'), { zone: 'utc', locale: 'en' });
  return date.isValid ? date : undefined;
}

interface Wording {
  readonly locale: string | null | undefined;
  readonly dialect: DateDialect;
}

function formatTokens(date: DateTime, format: string, { locale, dialect }: Wording): string {
  const bounded = format.slice(0, MAX_TEXT);
  const local = date.setLocale(knownLocale(locale));
  const isMoment = dialect === 'moment' || (dialect === 'auto' && isMomentFormat(bounded));
  return isMoment ? formatMoment(local, bounded) : local.toFormat(bounded);
}

const relative = (date: DateTime, locale: string | null | undefined, now: number): string | null =>
  date.toRelative({ base: DateTime.fromMillis(now, { zone: 'utc' }), locale: knownLocale(locale) });

/** Returns a supported locale; an unknown one becomes English. */
function knownLocale(locale: string | null | undefined): string {
  if (!locale || locale === 'en' || locale.length > MAX_TEXT) return 'en';
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(locale.replaceAll('_', '-'))[0] ?? 'en';
  } catch {
    return 'en';
  }
}

const UNITS = [
  ...(['years', 'quarters', 'months', 'weeks', 'days'] as const),
  ...(['hours', 'minutes', 'seconds', 'milliseconds'] as const),
];

type Unit = (typeof UNITS)[number];

/** Moment's short unit names. Only their case distinguishes `M` and `m`. */
const SHORT: ReadonlyMap<string, Unit> = new Map<string, Unit>([
  ['M', 'months'],
  ['m', 'minutes'],
  ['y', 'years'],
  ['Y', 'years'],
  ['q', 'quarters'],
  ['Q', 'quarters'],
  ['w', 'weeks'],
  ['W', 'weeks'],
  ['d', 'days'],
  ['D', 'days'],
  ['h', 'hours'],
  ['H', 'hours'],
  ['s', 'seconds'],
  ['S', 'seconds'],
  ['ms', 'milliseconds'],
]);

/** Returns the whole units from the date to now, truncated toward zero. */
function difference(date: DateTime, name: string, now: number): string {
  const unit = parseUnit(name);
  const elapsed = DateTime.fromMillis(now, { zone: 'utc' }).diff(date, unit);
  // Adding zero turns a negative zero into zero.
  return String(Math.trunc(elapsed.as(unit)) + 0);
}

/** Any other name means milliseconds, as in Moment's `diff`. */
function parseUnit(name: string): Unit {
  const lower = name.toLowerCase();
  return SHORT.get(name) ?? UNITS.find((one) => one === lower || one === `${lower}s`) ?? 'milliseconds';
}
