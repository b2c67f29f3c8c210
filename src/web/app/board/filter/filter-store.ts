import { batch, effect, signal } from '@preact/signals';
import { dashboardClient, saveLatest } from '../../api.js';
import { consumePreloaded } from '../../page-data.js';
import { user } from '../../session.js';
import { parseAddressState, type Query, toAddress, withoutHistory } from '../../ui/address.js';
import { SECTION_NAMES } from '../data/rows.js';
import {
  type Filter,
  GROUP_NAMES,
  NO_FILTER,
  PAGE_SIZES,
  pickKnownFilters,
  QUICK_FILTERS,
  SORT_NAMES,
} from './filter.js';
import { issueFilter, type IssueFilter, NO_ISSUE_FILTER, parseIssueFilter } from './issue-filter.js';
import { readSavedFilters, type SavedFilters, writeSavedFilters } from './saved-filters.js';

/** The `localStorage` key with the name of the user whose filters in this browser the server may not have. */
const UNSENT = 'trellis-filters-unsent';

/** The pause in typing after which a search text is sent. */
const SAVE_TEXT_AFTER_MS = 500;

/** The filter of the pull requests, restored from this browser and later from the server. */
export const pullRequestFilter = signal<Filter>(parsePullRequestFilter(readSavedFilters().pullRequests));

/** The filters of both lists, which the server stores together. */
interface FilterState extends SavedFilters {
  readonly pullRequests: Filter;
  readonly issues: IssueFilter;
}

/** The filters that the address of a page contains. */
type RequestedFilters = Partial<Pick<FilterState, 'issues' | 'pullRequests'>>;

const currentState = (): FilterState => ({ pullRequests: pullRequestFilter.value, issues: issueFilter.value });

const isSame = (a: FilterState, b: FilterState): boolean => a.pullRequests === b.pullRequests && a.issues === b.issues;

/**
 * Synchronises the filters between this page, the browser's storage and the server. A filter in the address takes
 * precedence over the stored one, which it does not replace until the user changes it.
 *
 * @returns a function that stops the synchronisation
 */
export function syncFilters(requested: RequestedFilters): () => void {
  const isUnsent = localStorage.getItem(UNSENT) === user.peek()?.username;
  const isRequested = requested.pullRequests !== undefined || requested.issues !== undefined;
  if (requested.pullRequests !== undefined) pullRequestFilter.value = requested.pullRequests;
  if (requested.issues !== undefined) issueFilter.value = requested.issues;
  let saved = currentState();
  let timer: ReturnType<typeof setTimeout> | undefined;
  // Requests are sent one at a time, so that the last change is stored last.
  const saveNewest = saveLatest(save);
  const send = (): void => {
    clearTimeout(timer);
    timer = undefined;
    saveNewest(saved);
  };
  const stop = effect(() => {
    const now = currentState();
    if (isSame(now, saved)) return;
    const isTyped = now.pullRequests.text !== saved.pullRequests.text || now.issues.text !== saved.issues.text;
    saved = now;
    storeUnsent(now);
    clearTimeout(timer);
    if (isTyped) timer = setTimeout(send, SAVE_TEXT_AFTER_MS);
    else send();
  });
  if (isUnsent) send();
  const opened = saved;
  void load().then((found) => {
    // Changes made in this browser, before or during the request, take precedence over the server's filters.
    if (found === undefined || isRequested || isUnsent || !isSame(currentState(), opened)) return;
    saved = found;
    withoutHistory(() =>
      batch(() => {
        pullRequestFilter.value = found.pullRequests;
        issueFilter.value = found.issues;
      }),
    );
    writeSavedFilters(found);
  });
  return () => {
    stop();
    if (timer !== undefined) send();
  };
}

function storeUnsent(value: FilterState): void {
  writeSavedFilters(value);
  localStorage.setItem(UNSENT, user.peek()?.username ?? '');
}

/** Sends the filters. After a failure they stay in this browser and are sent when the page is next opened. */
async function save(value: FilterState): Promise<void> {
  const body = { ...value };
  // The document that replaces this page may contain the filters from before the request.
  const leaving = new AbortController();
  const onLeave = (): void => leaving.abort();
  addEventListener('beforeunload', onLeave);
  const result = await dashboardClient
    .PUT('/api/settings/filter-state', { body, keepalive: true })
    .catch(() => undefined);
  removeEventListener('beforeunload', onLeave);
  if (result !== undefined && !leaving.signal.aborted && isSame(value, currentState())) localStorage.removeItem(UNSENT);
}

async function load(): Promise<FilterState | undefined> {
  const saved =
    consumePreloaded('filters') ??
    (await dashboardClient.GET('/api/settings/filter-state').catch(() => undefined))?.data;
  const { pullRequests, issues } = saved ?? {};
  if (pullRequests === undefined && issues === undefined) return undefined;
  const found = { pullRequests: parsePullRequestFilter(pullRequests), issues: parseIssueFilter(issues) };
  return JSON.stringify(found) === JSON.stringify(currentState()) ? undefined : found;
}

/** Reads a stored filter. Values that this release does not know are replaced by their defaults. */
function parsePullRequestFilter(kept: unknown): Filter {
  const read = pickKnownFilters(kept, NO_FILTER);
  const { section, pill, sort, group, size } = NO_FILTER;
  return {
    ...read,
    ...(Object.hasOwn(SECTION_NAMES, read.section) ? {} : { section }),
    ...(Object.hasOwn(QUICK_FILTERS, read.pill) ? {} : { pill }),
    ...(Object.hasOwn(SORT_NAMES, read.sort) ? {} : { sort }),
    ...(Object.hasOwn(GROUP_NAMES, read.group) ? {} : { group }),
    ...((PAGE_SIZES as readonly string[]).includes(read.size) ? {} : { size }),
  };
}

/** Returns a link that opens the list with this filter, on the board of the user who opens it. */
export const toFilterUrl = (value: Filter): string => location.origin + toAddress('/', value, NO_FILTER);

/** Returns the filter of the pull requests in a query string, or `undefined` if it has none. */
export function readPullRequestQuery(query: Query): Filter | undefined {
  const found = parseAddressState(query, NO_FILTER);
  return found && parsePullRequestFilter(found);
}

/** Returns the filter of the issues in a query string, or `undefined` if it has none. */
export function readIssueQuery(query: Query): IssueFilter | undefined {
  const found = parseAddressState(query, NO_ISSUE_FILTER);
  return found && parseIssueFilter(found);
}
