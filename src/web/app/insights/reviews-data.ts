import type { components } from '../../../generated/dashboard/client.js';
import { FORGE_NAMES, type ForgeName } from '../board/data/rows.js';
import type { Bar } from './chart-data.js';

type Schemas = components['schemas'];
export type ReviewInsights = Schemas['ReviewInsights'];
export type ReviewMeasure = ReviewInsights['measures'][number];
export type ReviewRow = Schemas['ReviewRow'];
export type Distribution = Schemas['ReviewDistribution'];
type RowMeasure = Schemas['ReviewRowMeasure'];

/** The figure of the reviews whose rows are shown, as address parameters; `measure` is empty while none is. */
export interface ReviewDrillDown {
  readonly measure: string;
  /** The forge and the name of a reviewer, such as `github/lisa`; empty for all. */
  readonly reviewer: string;
  readonly atLeastSeconds: string;
  readonly belowSeconds: string;
}

/** The title of each measure, and its definition in words. */
export const MEASURE_TEXTS: Readonly<Record<RowMeasure, { readonly title: string; readonly help: string }>> = {
  first_review: { title: 'Time to first review', help: 'From ready for review to the first review.' },
  cycle: { title: 'Cycle time', help: 'From opened to merged.' },
  review_wait: { title: 'Waiting for first review', help: 'From ready for review to the first review.' },
  in_review: { title: 'In review', help: 'From the first review to the last approval.' },
  merge_wait: { title: 'Waiting to merge', help: 'From the last approval to the merge.' },
  waiting: { title: 'Waiting for a first review now', help: 'From ready for review to now.' },
  requested: { title: 'Requested reviews', help: 'From the request to the review.' },
  given: { title: 'Given reviews', help: 'From the request to the review.' },
  pending: { title: 'Pending reviews', help: 'From the request to now.' },
};

/** The days for which the server stores review times. */
const MAX_DAYS = 90;

export interface ReviewScope {
  readonly days: number;
  readonly owner?: string;
  readonly forge?: ForgeName;
  readonly repo?: string;
}

interface ScopeOptions {
  /** The days of the page's period. */
  readonly days: number;
  /** The owner of a shared board; empty for the user's own. */
  readonly owner: string;
  /** The repository in the address. */
  readonly repository: string;
}

export function toReviewScope({ days, owner, repository }: ScopeOptions): ReviewScope {
  const [forge, repo] = splitForge(repository) ?? [];
  return {
    days: Math.min(days, MAX_DAYS),
    ...(owner !== '' && { owner }),
    ...(repo?.includes('/') === true && { forge, repo }),
  };
}

/** Splits a value of the address, such as `github/acme/shop`; returns `undefined` without a known forge. */
export function splitForge(value: string): readonly [ForgeName, string] | undefined {
  const slash = value.indexOf('/');
  const [forge, name] = [value.slice(0, slash), value.slice(slash + 1)];
  return Object.hasOwn(FORGE_NAMES, forge) && name !== '' ? [forge as ForgeName, name] : undefined;
}

interface ReviewRowsQuery extends ReviewScope {
  readonly measure: RowMeasure;
  readonly reviewer?: string;
  readonly atLeastSeconds?: number;
  readonly belowSeconds?: number;
}

/** Returns the query for the rows of a figure; `undefined` if the address names no measure. */
export function toRowsQuery(scope: ReviewScope, rows: ReviewDrillDown): ReviewRowsQuery | undefined {
  const { measure } = rows;
  if (!Object.hasOwn(MEASURE_TEXTS, measure)) return undefined;
  const [forge, reviewer] = splitForge(rows.reviewer) ?? [];
  const [atLeastSeconds, belowSeconds] = [toSeconds(rows.atLeastSeconds), toSeconds(rows.belowSeconds)];
  return {
    ...(forge !== undefined && { forge }),
    ...scope,
    measure: measure as RowMeasure,
    ...(reviewer !== undefined && { reviewer }),
    ...(atLeastSeconds !== undefined && { atLeastSeconds }),
    ...(belowSeconds !== undefined && { belowSeconds }),
  };
}

const toSeconds = (text: string): number | undefined => (/^\d{1,9}$/.test(text) ? Number(text) : undefined);

/** Returns the address of the rows as CSV. */
export function toExportAddress(query: ReviewRowsQuery): string {
  const parameters = Object.entries(query).map(([name, value]) => [name, String(value)]);
  return `/api/insights/reviews/export?${new URLSearchParams(parameters).toString()}`;
}

/** Describes the rows of a query, such as "Cycle time · acme/shop · 1 to 4 h". */
export function describeRows({ measure, repo, reviewer, atLeastSeconds = 0, belowSeconds }: ReviewRowsQuery): string {
  const range =
    atLeastSeconds > 0 || belowSeconds !== undefined
      ? formatRange({ fromSeconds: atLeastSeconds, ...(belowSeconds !== undefined && { belowSeconds }) })
      : undefined;
  return [MEASURE_TEXTS[measure].title, repo, reviewer, range].filter((text) => text !== undefined).join(' · ');
}

const [MINUTE, HOUR, DAY] = [60, 3_600, 86_400];

/** Formats a duration by its two largest units, such as "2 h 5 min" or "3 d 4 h". */
export function formatSpan(seconds: number): string {
  if (seconds < MINUTE) return 'under 1 min';
  const [large, small] = seconds >= DAY ? ([DAY, HOUR] as const) : ([HOUR, MINUTE] as const);
  const [largeUnit, smallUnit] = seconds >= DAY ? ['d', 'h'] : ['h', 'min'];
  const [first, rest] = [Math.floor(seconds / large), Math.floor((seconds % large) / small)];
  return [
    ...(first > 0 ? [`${first} ${largeUnit}`] : []),
    ...(rest > 0 && first < 10 ? [`${rest} ${smallUnit}`] : []),
  ].join(' ');
}

type Range = Pick<Schemas['ReviewBucket'], 'belowSeconds' | 'fromSeconds'>;

/** Names a range of durations, such as "4 to 12 h". */
function formatRange({ fromSeconds, belowSeconds }: Range): string {
  if (belowSeconds === undefined) return `${formatSpan(fromSeconds)} or more`;
  if (fromSeconds === 0) return `under ${formatSpan(belowSeconds)}`;
  const [length, unit] = belowSeconds <= DAY ? [HOUR, 'h'] : [DAY, 'd'];
  const isRound = fromSeconds % length === 0 && belowSeconds % length === 0;
  return isRound
    ? `${fromSeconds / length} to ${belowSeconds / length} ${unit}`
    : `${formatSpan(fromSeconds)} to ${formatSpan(belowSeconds)}`;
}

/** A bar of a histogram with its range. */
interface RangeBar extends Bar, Range {}

export const toRangeBars = ({ histogram }: Pick<ReviewMeasure, 'histogram'>): readonly RangeBar[] =>
  histogram.map(({ count, ...range }) => ({ ...range, label: formatRange(range), parts: [count] }));
