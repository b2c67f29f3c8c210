import { batch, effect, signal } from '@preact/signals';
import { parseBoardSearch } from '../../../../board-search/board-search.js';
import { dashboardClient, saveLatest } from '../../api.js';
import { consumePreloaded } from '../../page-data.js';
import { user } from '../../session.js';
import { parseAddressState, type Query, toAddress, withoutHistory } from '../../ui/address.js';
import { sharedStorage } from '../../ui/browser-storage.js';
import { serverNow } from '../../ui/times.js';
import { formatRepository, getRepositoryKey, type Issue, SECTION_NAMES } from '../data/rows.js';
import {
  type Filter,
  GROUP_NAMES,
  isWithinHours,
  NO_FILTER,
  ORDERS,
  PAGE_SIZES,
  pickKnownFilters,
  QUICK_FILTERS,
  SORT_NAMES,
} from './filter.js';

/** The `localStorage` key of the filters of both lists. */
const STORAGE_KEY = 'trellis-filters';

/** The `localStorage` key with the name of the user whose filters in this browser the server may not have. */
const UNSENT = 'trellis-filters-unsent';

/** The `localStorage` key with the time at which the server last stored filters of this browser. */
const SENT_AT = 'trellis-filters-sent-at';

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
  const isUnsent = sharedStorage.getItem(UNSENT) === user.peek()?.username;
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
  sharedStorage.setItem(UNSENT, user.peek()?.username ?? '');
}

/** Sends the filters. After a failure they stay in this browser and are sent when the page is next opened. */
async function save(value: FilterState): Promise<void> {
  const body = { ...value };
  const result = await dashboardClient
    .PUT('/api/settings/filter-state', { body, keepalive: true })
    .catch(() => undefined);
  if (result === undefined) return;
  sharedStorage.setItem(SENT_AT, String(Date.now()));
  if (isSame(value, currentState())) sharedStorage.removeItem(UNSENT);
}

async function load(): Promise<FilterState | undefined> {
  const embedded = consumePreloaded('filters');
  // A document that was requested before this browser sent filters may contain those from before.
  const isOutdated = Number(sharedStorage.getItem(SENT_AT)) > performance.timeOrigin;
  const saved =
    (isOutdated ? undefined : embedded) ??
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

/** The stored filters of both lists. They may come from another release, so their types are unknown. */
interface SavedFilters {
  readonly pullRequests?: unknown;
  readonly issues?: unknown;
}

interface StoredFilters extends SavedFilters {
  /** The user who selected the filters; other users of this browser do not get them. */
  readonly username?: string;
}

/** Reads the filters of the signed-in user that this browser stores. */
function readSavedFilters(): SavedFilters {
  try {
    const found = (JSON.parse(sharedStorage.getItem(STORAGE_KEY) ?? '{}') ?? {}) as StoredFilters;
    return found.username === user.peek()?.username ? found : {};
  } catch {
    return {};
  }
}

function writeSavedFilters({ pullRequests, issues }: SavedFilters): void {
  const stored: StoredFilters = { username: user.peek()?.username, pullRequests, issues };
  sharedStorage.setItem(STORAGE_KEY, JSON.stringify(stored));
}

/** The filter and the order of the issues. */
export interface IssueFilter {
  readonly text: string;
  /** In the form of {@link getRepositoryKey}. */
  readonly repo: string;
  readonly author: string;
  readonly label: string;
  /** Maximum age in hours; empty for any. */
  readonly created: string;
  readonly updated: string;
  readonly sort: 'created' | 'repository' | 'updated';
  readonly housekeeping: boolean;
}

export const NO_ISSUE_FILTER: IssueFilter = {
  ...{ text: '', repo: '', author: '', label: '', created: '', updated: '' },
  sort: 'updated',
  housekeeping: false,
};

/** The filter of the issues, restored from this browser. */
export const issueFilter = signal(parseIssueFilter(readSavedFilters().issues));

/** Reads a stored filter. An order that this release does not know is replaced by the default. */
function parseIssueFilter(kept: unknown): IssueFilter {
  const read = pickKnownFilters(kept, NO_ISSUE_FILTER);
  return Object.hasOwn(SORT_NAMES, read.sort) ? read : { ...read, sort: NO_ISSUE_FILTER.sort };
}

export const changeIssueFilter = (part: Partial<IssueFilter>): void =>
  void (issueFilter.value = { ...issueFilter.value, ...part });

export const countIssueConditions = ({ repo, author, label, created, updated, housekeeping }: IssueFilter): number =>
  [repo, author, label, created, updated].filter((value) => value !== '').length + Number(housekeeping);

/** Returns the issues that match a filter, in its order. */
export function applyIssueFilter(issues: readonly Issue[], used: IssueFilter, now = serverNow()): readonly Issue[] {
  const { matches } = parseBoardSearch(used.text);
  return ORDERS[used.sort](issues.filter((issue) => matches(issue) && isSelected(issue, used, now)));
}

function isSelected(issue: Issue, used: IssueFilter, now: number): boolean {
  const { repo, author, label, created, updated, housekeeping } = used;
  return (
    (housekeeping || !issue.housekeeping) &&
    (repo === '' || getRepositoryKey(issue) === repo) &&
    (author === '' || issue.author === author) &&
    isWithinHours(issue.createdAt, created, now) &&
    isWithinHours(issue.updatedAt, updated, now) &&
    (label === '' || issue.labels.some(({ name }) => name === label))
  );
}

type Options = readonly (readonly [string, string])[];

/** The options of the filters: every value that occurs in an issue, with its name. */
export function listIssueFilterOptions(
  issues: readonly Issue[],
): Readonly<Record<'author' | 'label' | 'repo', Options>> {
  return {
    repo: toOptions(issues.map((issue) => [getRepositoryKey(issue), formatRepository(issue)])),
    author: toOptions(issues.map(({ author }) => [author, author])),
    label: toOptions(issues.flatMap(({ labels }) => labels.map(({ name }) => [name, name] as const))),
  };
}

function toOptions(values: Options): Options {
  const names = [...new Map(values)].sort(([, a], [, b]) => a.localeCompare(b));
  return [['', 'All'], ...names];
}

/** Returns the filter without values that no longer occur in any issue, which would hide every issue. */
export function dropUnavailableIssueValues(
  used: IssueFilter,
  choices: ReturnType<typeof listIssueFilterOptions>,
): IssueFilter {
  const keep = (value: string, options: Options): string => (options.some(([one]) => one === value) ? value : '');
  const { repo, author, label } = used;
  return {
    ...used,
    repo: keep(repo, choices.repo),
    author: keep(author, choices.author),
    label: keep(label, choices.label),
  };
}
