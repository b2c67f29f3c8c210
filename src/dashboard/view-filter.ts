/** What a view selects of a board, and in which order. */
import type { components } from '../generated/dashboard/types.js';

type Schemas = components['schemas'];
type PullRequest = Schemas['PullRequest'];
type Filter = Schemas['ViewFilter'];
export type View = Pick<Schemas['SavedView'], 'filter' | 'group' | 'sort'>;

const HOUR_MS = 3_600_000;

/** @param at The moment that hours are counted back from, in milliseconds. */
export function select(pullRequests: readonly PullRequest[], { filter, sort }: View, at: number): PullRequest[] {
  const isSelected = toTest(filter, at);
  return sorted(pullRequests.filter(isSelected), sort);
}

/** The moments, in milliseconds, at which time takes a pull request out of the view. */
export function listEnds(pullRequests: readonly PullRequest[], { filter }: View): number[] {
  const { updatedWithinHours, createdWithinHours } = filter;
  const ends = (time: 'createdAt' | 'updatedAt', hours: number) =>
    pullRequests.map((one) => Date.parse(one[time]) + hours * HOUR_MS + 1);
  return [
    ...(updatedWithinHours === undefined ? [] : ends('updatedAt', updatedWithinHours)),
    ...(createdWithinHours === undefined ? [] : ends('createdAt', createdWithinHours)),
  ];
}

function toTest(filter: Filter, at: number): (one: PullRequest) => boolean {
  const [sections, forges, ci, kinds] = [filter.sections, filter.forges, filter.ci, filter.kinds].map(toListed);
  const [repos, authors, labels] = [filter.repos, filter.authors, filter.labels].map(toListed);
  const text = filter.text?.toLowerCase() ?? '';
  const tests: ((one: PullRequest) => boolean)[] = [
    (one) => sections?.(one.section) ?? true,
    (one) => forges?.(one.forge) ?? true,
    // Unknown checks are none of those that a view can name.
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

/** Forges take names in any case. A list of nothing asks for nothing in particular. */
function toListed(list: readonly string[] | undefined): ((value: string) => boolean) | undefined {
  if (list === undefined || list.length === 0) return undefined;
  const listed = new Set(list.map((value) => value.toLowerCase()));
  return (value) => listed.has(value.toLowerCase());
}

function isWithin(time: string, hours: number | undefined, at: number): boolean {
  return hours === undefined || at - Date.parse(time) <= hours * HOUR_MS;
}

/** What is equal stays in the order of the board. */
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

/** Not as one language would: the same for everybody. */
const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
