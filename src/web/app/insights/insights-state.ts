import { signal } from '@preact/signals';
import { parseAddressState, type Query } from '../ui/address.js';
import type { DrillDown } from './drill-down.js';
import { PERIODS } from './throughput-data.js';

interface InsightsState extends DrillDown {
  /** The days of a period. */
  readonly period: string;
}

/** The state of the page as address parameters, which survive navigation to other pages. */
export const NO_INSIGHTS_STATE: InsightsState = { period: String(PERIODS[0].days), chart: '', group: '', part: '' };

export const insightsState = signal(NO_INSIGHTS_STATE);

export const readInsightsState = (query: Query) => parseAddressState(query, NO_INSIGHTS_STATE);

/** Shows the rows behind a figure. */
export const showRows = (chart: string, group = '', part = ''): void =>
  void (insightsState.value = { ...insightsState.value, chart, group, part });

export const hideRows = (): void => showRows('');
