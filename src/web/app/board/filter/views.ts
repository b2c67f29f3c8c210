import { joinSearches, parseBoardSearch } from '../../../../board-search/board-search.js';
import type { components } from '../../../../generated/dashboard/client.js';
import { serverNow } from '../../ui/times.js';
import type { Board, ForgeName, PullRequest, Writable } from '../data/rows.js';
import { type Filter, QUICK_FILTERS, type QuickFilter, withoutConditions } from './filter.js';

export type SavedView = components['schemas']['SavedView'];
type ViewFilter = components['schemas']['ViewFilter'];
type View = components['schemas']['View'];

/** Returns the test of a view for a row, which has to agree with the server. */
export function createViewMatcher(view: ViewFilter, now = serverNow()): (row: PullRequest) => boolean {
  const { matches } = parseBoardSearch(view.search ?? '');
  return (row) =>
    includesOne(view.sections, [row.section]) &&
    includesOne(view.forges, [row.forge]) &&
    includesOne(view.repos, [row.repo]) &&
    includesOne(view.authors, [row.author]) &&
    includesOne(
      view.labels,
      row.labels.map(({ name }) => name),
    ) &&
    includesOne(view.ci, row.ciKnown === false ? [] : [row.ci]) &&
    includesOne(view.kinds, [row.kind]) &&
    (view.reviewRequested === undefined || view.reviewRequested === QUICK_FILTERS.mine.matches(row)) &&
    FLAGS.every((flag) => view[flag] === undefined || view[flag] === (row[flag] ?? false)) &&
    isWithin(row.updatedAt, view.updatedWithinHours, now) &&
    isWithin(row.createdAt, view.createdWithinHours, now) &&
    row.title.toLowerCase().includes((view.text ?? '').toLowerCase()) &&
    matches(row);
}

const FLAGS = ['reviewRequestedFromMe', 'readyToMerge', 'needsReview', 'changedSinceVisit'] as const;

function includesOne(list: readonly string[] | undefined, values: readonly string[]): boolean {
  if (list === undefined || list.length === 0) return true;
  const wanted = new Set(list.map((one) => one.toLowerCase()));
  return values.some((value) => wanted.has(value.toLowerCase()));
}

const isWithin = (time: string, hours: number | undefined, now: number): boolean =>
  hours === undefined || now - Date.parse(time) <= hours * 3_600_000;

/** Returns the filter that opens a view. Drafts and snoozed rows are shown if the view selects them. */
export function openView({ name, filter, sort, group }: SavedView, before: Filter): Filter {
  const { states } = parseBoardSearch(filter.search ?? '');
  return {
    ...withoutConditions(before),
    view: name,
    sort: sort === 'board' ? before.sort : sort,
    group,
    drafts: before.drafts || filter.sections?.includes('drafts') === true || states.has('draft'),
    snoozed: before.snoozed || states.has('snoozed'),
  };
}

/** Counts the rows that each view lists when it is opened. A view replaces the conditions of the filter. */
export function countViews(
  { pullRequests, hiddenDrafts }: Pick<Board, 'hiddenDrafts' | 'pullRequests'>,
  filter: Filter,
  views: readonly SavedView[],
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const view of views) {
    const { drafts, snoozed } = openView(view, filter);
    if (drafts && hiddenDrafts > 0) continue;
    const matches = createViewMatcher(view.filter);
    const isListed = (row: PullRequest): boolean => (drafts || !row.draft) && (snoozed || !row.snooze) && matches(row);
    counts.set(view.name, pullRequests.filter(isListed).length);
  }
  return counts;
}

const PILL_FILTERS: Readonly<Record<QuickFilter, Writable<ViewFilter>>> = {
  all: {},
  github: { forges: ['github'] },
  forgejo: { forges: ['forgejo'] },
  gitlab: { forges: ['gitlab'] },
  failing: { ci: ['failure'] },
  bots: { kinds: ['dependency'] },
  ready: { readyToMerge: true },
  review: { needsReview: true },
  mine: { reviewRequested: true },
};

/** Converts a filter to a view: the conditions of the open view, combined with those of the filter. */
export function toView(filter: Filter, open: SavedView | undefined): Writable<View> {
  const kept = structuredClone(open?.filter) as Writable<ViewFilter> | undefined;
  const [forge = '', ...repo] = filter.repo.split(' ');
  const search = joinSearches(kept?.search ?? '', filter.text);
  return {
    filter: {
      ...kept,
      ...(filter.section === '' ? {} : { sections: [filter.section] }),
      ...PILL_FILTERS[filter.pill],
      ...(filter.repo === '' ? {} : { forges: [forge as ForgeName], repos: [repo.join(' ')] }),
      ...(filter.author === '' ? {} : { authors: [filter.author] }),
      ...(filter.label === '' ? {} : { labels: [filter.label] }),
      ...(filter.ci === '' ? {} : { ci: [filter.ci as PullRequest['ci']] }),
      ...(filter.created === '' ? {} : { createdWithinHours: Number(filter.created) }),
      ...(filter.updated === '' ? {} : { updatedWithinHours: Number(filter.updated) }),
      ...(search === '' ? {} : { search }),
    },
    sort: filter.sort,
    group: filter.group,
  };
}

/** Converts typed text to a valid name of a view, without accents; may return an empty string. */
export const toViewName = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 64);
