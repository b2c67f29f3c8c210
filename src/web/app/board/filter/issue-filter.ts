import { signal } from '@preact/signals';
import { parseBoardSearch } from '../../../../board-search/board-search.js';
import { serverNow } from '../../ui/times.js';
import { formatRepository, getRepositoryKey, type Issue } from '../data/rows.js';
import { isWithinHours, ORDERS, pickKnownFilters, SORT_NAMES } from './filter.js';
import { readSavedFilters } from './saved-filters.js';

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
export function parseIssueFilter(kept: unknown): IssueFilter {
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
