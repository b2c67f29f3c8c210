import { DateTime } from './luxon.js';

export interface DateArguments {
  readonly difference?: string | null;
  readonly formatString?: string | null;
  readonly fromNow?: boolean | null;
  readonly locale?: string | null;
}

/** Formats a stored date, or each date of a list, by the arguments of its field. */
export type FormatDate = (value: unknown, args: DateArguments) => unknown;

/** The token set of `formatString`; `auto` selects Moment for a string with a token that only Moment has. */
type DateDialect = 'auto' | 'luxon' | 'moment';

interface DateOptions {
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

/** A date in the form of YAML 1.1: months and days may have one digit, and a space may precede the time. */
const TIMESTAMP =
  /^(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?:(?:[Tt]|[ \t]+)(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d*))?)?[ \t]*(Z|[+-]\d{1,2}(?::?\d{2})?)?)?$/;

/** A day without separators, which YAML reads as a number. */
const COMPACT_DAY = /^(\d{4})(\d{2})(\d{2})$/;

/** A day with the English name of its month, as `Date` reads and prints it: `Jul 08 2022`, `Fri, 8 July 2022 10:00:00 GMT`. */
const NAMED_MONTH =
  /^(?:[a-z]{3,9},?[ ]+)??(?:(\d{1,2})[ ]+([a-z]{3,9})\.?|([a-z]{3,9})\.?[ ]+(\d{1,2})),?[ ]+(\d{4})(?:,?[ ]+(\d{1,2}:\d{2}(?::\d{2})?)[ ]*(Z|GMT|UTC|[+-]\d{2}:?\d{2})?)?$/i;

const MONTHS = [
  ...['january', 'february', 'march', 'april', 'may', 'june', 'july'],
  ...['august', 'september', 'october', 'november', 'december'],
];

/**
 * Returns a date of a content file in ISO 8601, or `undefined` for a different value. ISO 8601 stays as it is, except
 * that a compact day gets its dashes. Other dates with a time are converted to UTC, as YAML's own types do.
 */
export function normalizeDate(value: unknown): string | undefined {
  const isNumber = Number.isInteger(value) && /^(?:\d{4}){1,2}$/.test(String(value));
  if (typeof value !== 'string' && !isNumber) return undefined;
  const text = String(value).replace(COMPACT_DAY, '$1-$2-$3');
  if (text.length > MAX_TEXT) return undefined;
  if (!/^[+-]?\d{4}/.test(text)) return fromNamedMonth(text);
  return DateTime.fromISO(text).isValid ? text : fromTimestamp(text);
}

/** Unlike `Date`, reads a time without a zone in UTC, so that the date does not depend on the server. */
function fromNamedMonth(text: string): string | undefined {
  const parts = NAMED_MONTH.exec(text.trim());
  if (!parts) return undefined;
  const [, first, firstMonth, secondMonth, second, year = '', time, zone = 'Z'] = parts;
  const name = (firstMonth ?? secondMonth ?? '').toLowerCase().replace(/^sept$/, 'sep');
  const month = MONTHS.findIndex((one) => one === name || one.slice(0, 3) === name) + 1;
  const day = `${year}-${month}-${first ?? second ?? ''}`;
  return fromTimestamp(time === undefined ? day : `${day} ${time} ${zone.replace(/^(?:GMT|UTC|z)$/i, 'Z')}`);
}

function fromTimestamp(text: string): string | undefined {
  const parts = TIMESTAMP.exec(text);
  if (!parts) return undefined;
  const [, year = '', , month = '', day = '', hour, minute = '', second = '00', fraction = '', zone = 'Z'] = parts;
  const date = `${year}-${pad(month)}-${pad(day)}`;
  if (hour === undefined) return DateTime.fromISO(date).isValid ? date : undefined;
  const milliseconds = fraction.padEnd(3, '0').slice(0, 3);
  const iso = `${date}T${pad(hour)}:${minute}:${second}.${milliseconds}${toIsoZone(zone)}`;
  return DateTime.fromISO(iso, { zone: 'utc' }).toISO() ?? undefined;
}

const pad = (digits: string): string => digits.padStart(2, '0');

/** Converts an offset such as `+2` or `-0530` to `+02:00` or `-05:30`. */
const toIsoZone = (zone: string): string =>
  zone.replace(
    /^([+-])(\d{1,2}):?(\d{2})?$/,
    (_, sign: string, hours: string, minutes = '00') => `${sign}${pad(hours)}:${minutes}`,
  );

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
  // The years of tokens are Gregorian in all languages, and so are those of whole dates, unlike in Persian and Thai.
  const local = date.reconfigure({ locale: knownLocale(locale), outputCalendar: 'gregory' });
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

/**
 * Tokens that only Moment has: `[text]`, years as `Y`, `A`, ordinals, names of days as `ddd`, week years as `gg`, times as
 * `LT`; and alone, `L` to `llll`, and months as `MMM`.
 */
const MOMENT_ONLY = /\[[^\]]*\]|Y|A|Do|ddd|gg|LT|^(?:L{1,4}|l{1,4}|M{3,4})$/;

/** Tokens that only Luxon has. In a format with one of them, `dd` is a day of the month and not a short name. */
const LUXON_ONLY = /yy|[cnq']|L|EEE|ii|kkkk|(?<![MQDdwW])o/;

const QUOTED = /'[^']*'/g;

/** Whether a format contains a token that only Moment has, or a day of the month as `D` together with other tokens. */
function isMomentFormat(format: string): boolean {
  const tokens = format.replace(QUOTED, "'");
  if (MOMENT_ONLY.test(tokens) || (tokens.includes('D') && /[A-CE-Za-z]/.test(tokens))) return true;
  return tokens.includes('dd') && !LUXON_ONLY.test(tokens);
}

/** The result of a format for the same date with the tokens of each library. */
export interface FormatConflict {
  readonly luxon: string;
  readonly moment: string;
}

const SAMPLES = ['2019-02-03T04:05:06.789Z', '2020-11-24T15:16:17.018Z'].map((text) =>
  DateTime.fromISO(text, { zone: 'utc', locale: 'en' }),
);

/** The tokens of {@link LUXON_ONLY} that Moment does not have either. */
const NEVER_MOMENT = /yy|'|EEE|ii|kkkk|(?<![MQDdwW])o/;

/** A letter that Moment has no token for. */
const UNKNOWN_TO_MOMENT = /^[bcfgijnopqrtuvBCFGIJKNOPRTUV]$/;

/** Returns how a format differs between the libraries if it is read by Luxon but consists of tokens of Moment. */
export function findFormatConflict(format: string): FormatConflict | undefined {
  if (format.length > MAX_TEXT || isMomentFormat(format) || NEVER_MOMENT.test(format)) return undefined;
  if (format.match(TOKEN)?.some((token) => UNKNOWN_TO_MOMENT.test(token))) return undefined;
  return SAMPLES.map((date) => ({ luxon: date.toFormat(format), moment: formatMoment(date, format) })).find(
    ({ luxon, moment }) => luxon !== moment,
  );
}

const TOKEN =
  /\[([^\]]*)\]|\\([^])|LTS?|[Ll]{1,4}|Mo|M{1,4}|Qo?|DDDo|Do|D{1,4}|do|d{1,4}|e|E|wo|w{1,2}|Wo|W{1,2}|Y{4,6}|YY?|y|g{4,5}|gg|G{4,5}|GG|A|a|HH?|hh?|kk?|mm?|ss?|S{1,9}|ZZ?|z{1,2}|X|x|[^]/g;

/** Formats a date with the tokens of Moment 2, in the locale and zone of the date. */
function formatMoment(date: DateTime, format: string): string {
  const hasDay = format.replaceAll(/\[[^\]]*\]/g, '').includes('D');
  return format.replace(TOKEN, (token, literal: string | undefined, escaped: string | undefined) => {
    if (literal !== undefined) return literal;
    if (escaped !== undefined) return escaped;
    return /^M{3,4}$/.test(token) ? formatMonth(date, token, hasDay) : formatToken(date, token);
  });
}

/** The name of the month, which has a different form beside a day in many languages: `февраль`, `9 февраля`. */
function formatMonth(date: DateTime, token: string, hasDay: boolean): string {
  const name = date.toFormat(hasDay ? token : token.replaceAll('M', 'L'));
  if (/\D/.test(name)) return name;
  // Luxon leaves out the text after a number, such as `月`, and some languages have only a number as the short name.
  const short = token === 'MMM' ? date.toLocaleString({ month: 'short' }) : '';
  return /\D/.test(short) ? short : date.toLocaleString({ month: 'long' });
}

function formatToken(date: DateTime, token: string): string {
  const localized = LOCALIZED[token];
  if (localized) return localized(date);
  const luxon = LUXON[token];
  if (luxon !== undefined) return date.toFormat(luxon);
  const number = NUMBERS[token.replace(/o$/, '')];
  if (token.endsWith('o') && number) return ordinal(number(date), token, date.locale ?? 'en');
  if (token.startsWith('S')) return String(date.millisecond).padStart(3, '0').padEnd(9, '0').slice(0, token.length);
  return OTHERS[token]?.(date) ?? token;
}

/** Tokens that Luxon has under a different name. */
const LUXON: Readonly<Record<string, string>> = {
  M: 'L', MM: 'LL',
  Q: 'q',
  D: 'd', DD: 'dd', DDD: 'o', DDDD: 'ooo',
  ddd: 'ccc', dddd: 'cccc', E: 'E',
  w: 'n', ww: 'nn', W: 'W', WW: 'WW',
  YY: 'yy', YYYY: 'yyyy', YYYYYY: 'yyyyyy',
  gg: 'ii', gggg: 'iiii', GG: 'kk', GGGG: 'kkkk',
  H: 'H', HH: 'HH', h: 'h', hh: 'hh',
  m: 'm', mm: 'mm', s: 's', ss: 'ss',
  Z: 'ZZ', ZZ: 'ZZZ', X: 'X', x: 'x',
}; // prettier-ignore

const NUMBERS: Readonly<Record<string, (date: DateTime) => number>> = {
  M: (date) => date.month,
  Q: (date) => date.quarter,
  D: (date) => date.day,
  DDD: (date) => date.ordinal,
  d: (date) => date.weekday % 7,
  w: (date) => date.localWeekNumber,
  W: (date) => date.weekNumber,
};

const isEnglish = (date: DateTime): boolean => (date.locale ?? 'en').startsWith('en');

const OTHERS: Readonly<Record<string, (date: DateTime) => string>> = {
  d: (date) => String(date.weekday % 7),
  dd: (date) => date.toFormat('ccc').replace('.', '').slice(0, 2),
  e: (date) => String(date.localWeekday - 1),
  k: (date) => String(date.hour === 0 ? 24 : date.hour),
  kk: (date) => String(date.hour === 0 ? 24 : date.hour).padStart(2, '0'),
  Y: (date) => String(date.year),
  YYYYY: (date) => String(date.year).padStart(5, '0'),
  y: (date) => String(Math.abs(date.year)),
  A: (date) => date.toFormat('a').toUpperCase(),
  a: (date) => date.toFormat('a').toLowerCase(),
  z: () => 'UTC',
  zz: () => 'Coordinated Universal Time',
};

/** Formats English dates like Moment, and other languages by the conventions of their region. */
const localize =
  (english: string, preset: Intl.DateTimeFormatOptions) =>
  (date: DateTime): string =>
    isEnglish(date) ? formatMoment(date, english) : date.toLocaleString(preset);

const TIME = { hour: 'numeric', minute: 'numeric' } as const;
const DAY = { year: 'numeric', month: 'long', day: 'numeric' } as const;
const SHORT_DAY = { ...DAY, month: 'short' } as const;

const LOCALIZED: Readonly<Record<string, (date: DateTime) => string>> = {
  LT: localize('h:mm A', TIME),
  LTS: localize('h:mm:ss A', { ...TIME, second: '2-digit' }),
  L: localize('MM/DD/YYYY', { year: 'numeric', month: '2-digit', day: '2-digit' }),
  LL: localize('MMMM D, YYYY', DAY),
  LLL: localize('MMMM D, YYYY h:mm A', { ...DAY, ...TIME }),
  LLLL: localize('dddd, MMMM D, YYYY h:mm A', { ...DAY, ...TIME, weekday: 'long' }),
  l: localize('M/D/YYYY', { year: 'numeric', month: 'numeric', day: 'numeric' }),
  ll: localize('MMM D, YYYY', SHORT_DAY),
  lll: localize('MMM D, YYYY h:mm A', { ...SHORT_DAY, ...TIME }),
  llll: localize('ddd, MMM D, YYYY h:mm A', { ...SHORT_DAY, ...TIME, weekday: 'short' }),
};

/** The text after the number of a day in languages where it does not depend on the number. */
const DAY_SUFFIXES: readonly (readonly [RegExp, string])[] = [
  [/^(?:bs|cs|da|de|et|eu|fi|fo|hr|hu|is|lb|lv|nb|nn|no|pl|se|sk|sl|sq|sr)\b/, '.'],
  [/^(?:es|gl|it|pt)\b/, 'º'],
  [/^(?:af|fy|nl)\b/, 'e'],
];

function ordinal(number: number, token: string, locale: string): string {
  if (locale.startsWith('en')) return `${number}${englishSuffix(number)}`;
  if (locale.startsWith('fr')) return number === 1 ? '1er' : String(number);
  if (token.startsWith('D') && /^(?:ja|zh)\b/.test(locale)) return `${number}日`;
  if (token.startsWith('D') && /^ko\b/.test(locale)) return `${number}일`;
  return `${number}${DAY_SUFFIXES.find(([languages]) => languages.test(locale))?.[1] ?? ''}`;
}

function englishSuffix(number: number): string {
  if (Math.trunc((number % 100) / 10) === 1) return 'th';
  return ['th', 'st', 'nd', 'rd'][number % 10] ?? 'th';
}
