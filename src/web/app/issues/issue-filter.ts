import { signal } from '@preact/signals';
import type { Issue } from '../board/rows.js';
import { isSince, ORDERS, SORTS } from '../board/filter.js';
import { repoName, repoOf } from '../board/rows.js';
import { readKept, takeKnown } from '../shell/kept-filters.js';

export interface IssueFilter {
  readonly text: string;
  /** In the form of {@link repoOf}. */
  readonly repo: string;
  readonly author: string;
  readonly label: string;
  /** Maximum age in hours; empty for any. */
  readonly created: string;
  readonly updated: string;
  readonly sort: 'created' | 'repository' | 'updated';
  readonly housekeeping: boolean;
}

export const NO_FILTER: IssueFilter = {
  ...{ text: '', repo: '', author: '', label: '', created: '', updated: '' },
  sort: 'updated',
  housekeeping: false,
};

/** The filter of the issues, restored from this browser. */
export const filter = signal(parseIssueFilter(readKept().issues));

/** Reads a stored filter. An order that this release does not know is replaced by the default. */
export function parseIssueFilter(kept: unknown): IssueFilter {
  const read = takeKnown(kept, NO_FILTER);
  return Object.hasOwn(SORTS, read.sort) ? read : { ...read, sort: NO_FILTER.sort };
}

export const change = (part: Partial<IssueFilter>): void => void (filter.value = { ...filter.value, ...part });

export const countNarrowing = ({ repo, author, label, created, updated, housekeeping }: IssueFilter): number =>
  [repo, author, label, created, updated].filter((value) => value !== '').length + Number(housekeeping);

/** Returns the issues that match a filter, in its order. */
export function applyFilter(issues: readonly Issue[], used: IssueFilter, now = Date.now()): readonly Issue[] {
  return ORDERS[used.sort](issues.filter((issue) => isSelected(issue, used, now)));
}

function isSelected(issue: Issue, used: IssueFilter, now: number): boolean {
  const { text, repo, author, label, created, updated, housekeeping } = used;
  const wanted = text.trim().toLowerCase();
  return (
    (housekeeping || !issue.housekeeping) &&
    (repo === '' || repoOf(issue) === repo) &&
    (author === '' || issue.author === author) &&
    isSince(issue.createdAt, created, now) &&
    isSince(issue.updatedAt, updated, now) &&
    (label === '' || issue.labels.some(({ name }) => name === label)) &&
    (wanted === '' || issue.title.toLowerCase().includes(wanted) || `#${issue.number}` === wanted)
  );
}

type Options = readonly (readonly [string, string])[];

/** The options of the filters: every value that occurs in an issue, with its name. */
export function choicesOf(issues: readonly Issue[]): Readonly<Record<'author' | 'label' | 'repo', Options>> {
  return {
    repo: toOptions(issues.map((issue) => [repoOf(issue), repoName(issue)])),
    author: toOptions(issues.map(({ author }) => [author, author])),
    label: toOptions(issues.flatMap(({ labels }) => labels.map(({ name }) => [name, name] as const))),
  };
}

function toOptions(values: Options): Options {
  const names = [...new Map(values)].sort(([, a], [, b]) => a.localeCompare(b));
  return [['', 'All'], ...names];
}

/** Returns the filter without values that no longer occur in any issue, which would hide every issue. */
export function withoutVanished(used: IssueFilter, choices: ReturnType<typeof choicesOf>): IssueFilter {
  const keep = (value: string, options: Options): string => (options.some(([one]) => one === value) ? value : '');
  const { repo, author, label } = used;
  return {
    ...used,
    repo: keep(repo, choices.repo),
    author: keep(author, choices.author),
    label: keep(label, choices.label),
  };
}
