import type { components } from '../../../generated/dashboard/client.js';

export type Throughput = components['schemas']['Throughput'];

/** A day or a week of the chart; those before counting began are empty. */
export interface Column {
  /** Its first day, as `2026-05-02`. */
  readonly start: string;
  readonly opened: number;
  readonly left: number;
  readonly open?: number | undefined;
  readonly isCounted: boolean;
}

/** How far back people look; of more than a month, weeks tell more than days. */
export const PERIODS = [
  { days: 30, per: 'day', name: '30 days' },
  { days: 90, per: 'week', name: '90 days' },
  { days: 365, per: 'week', name: 'A year' },
] as const;

export type Period = (typeof PERIODS)[number];

const DAY_MS = 86_400_000;

/** The columns of a period, all of them: what was not counted yet is empty, so that the chart tells how much that is. */
export function columnsOf({ periods, per }: Throughput, { days }: { readonly days: number }): readonly Column[] {
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

export interface Totals {
  readonly opened: number;
  readonly left: number;
  /** As far as it is known. */
  readonly open: number | undefined;
}

export function totalsOf(columns: readonly Column[]): Totals {
  return {
    opened: sum(columns.map(({ opened }) => opened)),
    left: sum(columns.map(({ left }) => left)),
    open: columns.findLast(({ open }) => open !== undefined)?.open,
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

const STEPS = [1, 1.2, 1.5, 2, 3, 4, 5, 6, 8, 10];

/** The top of a scale: a round number that takes all of it, and little more. */
export function topOf(numbers: readonly number[]): number {
  const most = Math.max(1, ...numbers);
  const power = 10 ** Math.floor(Math.log10(most));
  return STEPS.map((step) => step * power).find((top) => top >= most && Number.isInteger(top)) ?? most;
}

/** Runs of columns whose number is known, each with its place among all. */
export function knownRuns(columns: readonly Column[]): readonly (readonly (readonly [number, number])[])[] {
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

/** Days have no zone any more: they are the dates that the server counted. */
const format = (start: string, options: Intl.DateTimeFormatOptions): string =>
  new Date(start).toLocaleDateString(undefined, { ...options, timeZone: 'UTC' });

export const longDate = (start: string): string => format(start, { dateStyle: 'long' });

/** As "2 May". */
export const shortDate = (start: string): string => format(start, { day: 'numeric', month: 'short' });

/** As "Sat, 2 May 2026", or "Week of 27 Apr 2026". */
export const nameOf = ({ start }: Pick<Column, 'start'>, per: Throughput['per']): string =>
  per === 'day'
    ? format(start, { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' })
    : `Week of ${format(start, { dateStyle: 'medium' })}`;

/** What a column says, in words. */
export function describe(column: Column): string {
  if (!column.isCounted) return 'not counted yet';
  const { opened, left, open } = column;
  return `${opened} opened, ${left} left, ${open === undefined ? 'no board was made' : `${open} open`}`;
}
