/** Filters and sorts the pull requests of a board by a view. */
import type { components } from '../generated/dashboard/types.js';

type Schemas = components['schemas'];
type PullRequest = Schemas['PullRequest'];
type Filter = Schemas['ViewFilter'];
export type View = Pick<Schemas['SavedView'], 'filter' | 'group' | 'sort'>;

const HOUR_MS = 3_600_000;

/** @param at The time from which hours are counted back, in milliseconds. */
export function applyView(pullRequests: readonly PullRequest[], { filter, sort }: View, at: number): PullRequest[] {
  const isSelected = toTest(filter, at);
  return sorted(pullRequests.filter(isSelected), sort);
}

/** Lists the times, in milliseconds, at which pull requests become too old for the view. */
export function listExpiries(pullRequests: readonly PullRequest[], { filter }: View): number[] {
  const { updatedWithinHours, createdWithinHours } = filter;
  const ends = (time: 'createdAt' | 'updatedAt', hours: number) =>
    pullRequests.map((one) => Date.parse(one[time]) + hours * HOUR_MS + 1);
  return [
    ...(updatedWithinHours === undefined ? [] : ends('updatedAt', updatedWithinHours)),
    ...(createdWithinHours === undefined ? [] : ends('createdAt', createdWithinHours)),
  ];
}

function toTest(filter: Filter, at: number): (one: PullRequest) => boolean {
  const [sections, forges, ci, kinds] = [filter.sections, filter.forges, filter.ci, filter.kinds].map(toMatcher);
  const [repos, authors, labels] = [filter.repos, filter.authors, filter.labels].map(toMatcher);
  const text = filter.text?.toLowerCase() ?? '';
  const tests: ((one: PullRequest) => boolean)[] = [
    (one) => sections?.(one.section) ?? true,
    (one) => forges?.(one.forge) ?? true,
    // A view cannot select unknown checks.
    (one) => ci === undefined || (one.ciKnown !== false && ci(one.ci)),
    (one) => kinds?.(one.kind) ?? true,
    (one) => repos?.(one.repo) ?? true,
    (one) => authors?.(one.author) ?? true,
    (one) => labels === undefined || one.labels.some(({ name }) => labels(name)),
    (one) => one.title.toLowerCase().includes(text),
    (one) => isWithin(one.updatedAt, filter.updatedWithinHours, at),
    (one) => isWithin(one.createdAt, filter.createdWithinHours, at),
    ...FLAGS.filter((flag) => filter[flag] !== undefined).map(
      (flag) => (one: PullRequest) => (one[flag] ?? false) === filter[flag],
    ),
  ];
  return (one) => tests.every((test) => test(one));
}

const FLAGS = ['reviewRequestedFromMe', 'readyToMerge', 'needsReview', 'changedSinceVisit'] as const;

/** Ignores case, as forges do for names. An empty list does not filter. */
function toMatcher(list: readonly string[] | undefined): ((value: string) => boolean) | undefined {
  if (list === undefined || list.length === 0) return undefined;
  const listed = new Set(list.map((value) => value.toLowerCase()));
  return (value) => listed.has(value.toLowerCase());
}

function isWithin(time: string, hours: number | undefined, at: number): boolean {
  return hours === undefined || at - Date.parse(time) <= hours * HOUR_MS;
}

/** The sort is stable: equal pull requests keep the order of the board. */
function sorted(pullRequests: PullRequest[], sort: View['sort']): PullRequest[] {
  switch (sort) {
    case 'board':
      return pullRequests;
    case 'updated':
    case 'created':
      return newestFirst(pullRequests, `${sort}At`);
    case 'repository':
      return pullRequests.sort((a, b) => compare(a.repo.toLowerCase(), b.repo.toLowerCase()));
  }
}

function newestFirst(pullRequests: PullRequest[], time: 'createdAt' | 'updatedAt'): PullRequest[] {
  return pullRequests.sort((a, b) => Date.parse(b[time]) - Date.parse(a[time]));
}

/** Compares by code units, so that the order does not depend on a locale. */
const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
