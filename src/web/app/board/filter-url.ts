import { parsePullRequestFilter } from './filter-store.js';
import { NO_FILTER } from './filter.js';
import type { Filter } from './filter.js';

/** Returns a link that opens the list with this filter, on the board of the user who opens it. */
export function toFilterUrl(value: Filter): string {
  const chosen = Object.entries(value).filter(([name, one]) => one !== NO_FILTER[name as keyof Filter]);
  const query = new URLSearchParams(chosen.map(([name, one]) => [name, String(one)]));
  return `${location.origin}/?${query.toString()}`;
}

/** Reads the filter from the page's query string and clears it. Returns `undefined` if the address has no filter. */
export function readFilterFromUrl(): Filter | undefined {
  const query = Object.fromEntries(new URLSearchParams(location.search));
  if (!Object.keys(query).some((name) => Object.hasOwn(NO_FILTER, name))) return undefined;
  history.replaceState(history.state, '', location.pathname);
  return parsePullRequestFilter({ ...query, drafts: query.drafts === 'true', snoozed: query.snoozed === 'true' });
}
