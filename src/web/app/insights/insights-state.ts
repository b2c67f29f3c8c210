import { computed, signal } from '@preact/signals';
import { parseAddressState, type Query } from '../ui/address.js';
import type { DrillDown } from './chart-data.js';
import type { ReviewDrillDown } from './reviews-data.js';
import { type Period, PERIODS } from './throughput-data.js';

interface InsightsState extends DrillDown, ReviewDrillDown {
  /** The days of a period. */
  readonly period: string;
  /** Limits the review times to a repository, such as `github/acme/shop`; empty for all. */
  readonly repository: string;
}

const NO_ROWS = { chart: '', group: '', part: '', measure: '', reviewer: '', atLeastSeconds: '', belowSeconds: '' };

/** The state of the page as address parameters, which survive navigation to other pages. */
export const NO_INSIGHTS_STATE: InsightsState = { period: String(PERIODS[0].days), repository: '', ...NO_ROWS };

export const insightsState = signal(NO_INSIGHTS_STATE);

export const readInsightsState = (query: Query) => parseAddressState(query, NO_INSIGHTS_STATE);

export const period = computed<Period>(
  () => PERIODS.find(({ days }) => String(days) === insightsState.value.period) ?? PERIODS[0],
);

/** Shows the rows behind a figure. */
export const showRows = (chart: string, group = '', part = ''): void =>
  void (insightsState.value = { ...insightsState.value, ...NO_ROWS, chart, group, part });

/** Shows the pull requests behind a figure of the reviews. */
export const showReviewRows = (rows: Partial<ReviewDrillDown>): void =>
  void (insightsState.value = { ...insightsState.value, ...NO_ROWS, ...rows });

export const hideRows = (): void => showRows('');
