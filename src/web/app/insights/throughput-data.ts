import type { components } from '../../../generated/dashboard/client.js';

export type Throughput = components['schemas']['Throughput'];

/** A day or a week of the chart; columns before the first data are empty. */
export interface Column {
  /** The first day, such as `2026-05-02`. */
  readonly start: string;
  readonly opened: number;
  readonly left: number;
  readonly open?: number;
  readonly isCounted: boolean;
}

/** The periods of the chart. Periods of more than a month are shown by week. */
export const PERIODS = [
  { days: 30, per: 'day', name: '30 days' },
  { days: 90, per: 'week', name: '90 days' },
  { days: 365, per: 'week', name: 'A year' },
] as const;

export type Period = (typeof PERIODS)[number];

const DAY_MS = 86_400_000;

/** Returns all columns of a period, with empty ones before the first data; without any data, an empty list. */
export function toColumns({ periods, per }: Throughput, { days }: { readonly days: number }): readonly Column[] {
  const [first] = periods;
  if (first === undefined) return [];
  const length = per === 'day' ? 1 : 7;
  const missing = Math.max(0, Math.ceil(days / length) - periods.length);
  const before = Array.from({ length: missing }, (_none, index) => ({
    start: toDate(Date.parse(first.start) - (missing - index) * length * DAY_MS),
    opened: 0,
    left: 0,
    isCounted: false,
  }));
  return [...before, ...periods.map((period) => ({ ...period, isCounted: true }))];
}

const toDate = (time: number): string => new Date(time).toISOString().slice(0, 10);

interface Totals {
  readonly opened: number;
  readonly left: number;
  /** The last known number. */
  readonly open: number | undefined;
}

export function sumColumns(columns: readonly Column[]): Totals {
  return {
    opened: sum(columns.map(({ opened }) => opened)),
    left: sum(columns.map(({ left }) => left)),
    open: columns.findLast(({ open }) => open !== undefined)?.open,
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

const STEPS = [1, 1.2, 1.5, 2, 3, 4, 5, 6, 8, 10];

/** Returns the top of a scale: a round integer slightly above all numbers. */
export function findScaleTop(numbers: readonly number[]): number {
  const most = Math.max(1, ...numbers);
  const power = 10 ** Math.floor(Math.log10(most));
  return STEPS.map((step) => step * power).find((top) => top >= most && Number.isInteger(top)) ?? most;
}

/** Returns the runs of columns whose number of open pull requests is known, as pairs of column index and number. */
export function splitKnownRuns(columns: readonly Column[]): readonly (readonly (readonly [number, number])[])[] {
  const runs: [number, number][][] = [];
  let run: [number, number][] | undefined;
  columns.forEach(({ open }, index) => {
    if (open === undefined) {
      run = undefined;
    } else if (run === undefined) {
      runs.push((run = [[index, open]]));
    } else {
      run.push([index, open]);
    }
  });
  return runs;
}

/** The server returns dates, not times, so they are formatted without a time zone conversion. */
const format = (start: string, options: Intl.DateTimeFormatOptions): string =>
  new Date(start).toLocaleDateString(undefined, { ...options, timeZone: 'UTC' });

export const longDate = (start: string): string => format(start, { dateStyle: 'long' });

/** Formats a date such as "2 May". */
export const shortDate = (start: string): string => format(start, { day: 'numeric', month: 'short' });

/** Returns the name of a column, such as "Sat, 2 May 2026" or "Week of 27 Apr 2026". */
export const formatColumnName = ({ start }: Pick<Column, 'start'>, per: Throughput['per']): string =>
  per === 'day'
    ? format(start, { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' })
    : `Week of ${format(start, { dateStyle: 'medium' })}`;

/** Describes the figures of a column in words. */
export function describeColumn(column: Column): string {
  if (!column.isCounted) return 'no data yet';
  const { opened, left, open } = column;
  return `${opened} opened, ${left} closed, ${open === undefined ? 'open count unknown' : `${open} open`}`;
}
