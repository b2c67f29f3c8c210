import { AppError } from '@trellis/core/errors';
import { type Caller, requireUser } from '../../accounts/callers.js';
import { parseBoardSearch } from '../../board-search/board-search.js';
import type { components } from '../../generated/dashboard/types.js';
import { type Database, inTransaction } from '../../storage/database.js';
import { prepare } from '../../storage/prepared.js';

type Schemas = components['schemas'];
type SavedView = Schemas['SavedView'];
type PullRequest = Schemas['PullRequest'];
type Filter = Schemas['ViewFilter'];
export type View = Pick<SavedView, 'filter' | 'group' | 'sort'>;

/** More than a user can keep apart in a list. */
const MAX_VIEWS = 50;

/** The caller's saved views. */
export interface Views {
  /** Lists views sorted by name. */
  list(caller: Caller | undefined): Promise<SavedView[]>;
  /**
   * Creates a view, or replaces the one of the same name.
   *
   * @throws AppError `conflict` if there are 50 others; `invalid_input` if a term of the search has an invalid value.
   */
  save(caller: Caller | undefined, view: SavedView): Promise<SavedView>;
  /** Deletes a view and its feeds. Does nothing for an unknown name. */
  delete(caller: Caller | undefined, name: string): Promise<void>;
}

export function createViews(database: Database): Views {
  return {
    async list(caller) {
      const { personId } = requireUser(caller);
      const rows = await ownViews(database, personId).selectAll().execute();
      // Sorted here, because the text order of databases depends on engine and locale.
      return rows.map(({ name, view }) => ({ name, ...(JSON.parse(view) as View) })).sort(byName);
    },
    async save(caller, { name, filter, sort, group }) {
      const { personId } = requireUser(caller);
      const [problem] = parseBoardSearch(filter.search ?? '').problems;
      if (problem !== undefined) throw new AppError('invalid_input', problem, { field: 'filter.search' });
      const view = JSON.stringify({ filter, sort, group } satisfies View);
      await inTransaction(database, async (transaction) => {
        await assertBelowLimit(transaction, personId, name);
        const row = transaction.insertInto('views').values({ person_id: personId, name, view });
        // An update, because replacing the row would delete its feeds.
        await row.onConflict((conflict) => conflict.columns(['person_id', 'name']).doUpdateSet({ view })).execute();
      });
      return { name, filter, sort, group };
    },
    async delete(caller, name) {
      const { personId } = requireUser(caller);
      await database.deleteFrom('views').where('person_id', '=', personId).where('name', '=', name).execute();
    },
  };
}

/** Returns a view as JSON text; `undefined` if the user has no view of this name. */
export async function findViewText(database: Database, personId: string, name: string): Promise<string | undefined> {
  const [row] = await findView(database, { personId, name });
  return row?.view;
}

const findView = prepare((database, { personId, name }: { readonly personId: string; readonly name: string }) =>
  ownViews(database, personId).select('view').where('name', '=', name),
);

function ownViews(database: Database, personId: string) {
  return database.selectFrom('views').where('person_id', '=', personId);
}

async function assertBelowLimit(transaction: Database, personId: string, name: string): Promise<void> {
  const others = ownViews(transaction, personId).where('name', '!=', name);
  const { count } = await others.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  if (count >= MAX_VIEWS) {
    throw new AppError('conflict', `You have reached the limit of ${MAX_VIEWS} views. Delete one first.`);
  }
}

const byName = (a: SavedView, b: SavedView): number => (a.name < b.name ? -1 : 1);

const HOUR_MS = 3_600_000;

/** Filters and sorts pull requests. @param at The time from which hours are counted back, in milliseconds. */
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
    parseBoardSearch(filter.search ?? '').matches,
    (one) => isWithin(one.updatedAt, filter.updatedWithinHours, at),
    (one) => isWithin(one.createdAt, filter.createdWithinHours, at),
    (one) => filter.reviewRequested === undefined || isReviewRequested(one) === filter.reviewRequested,
    ...FLAGS.filter((flag) => filter[flag] !== undefined).map(
      (flag) => (one: PullRequest) => (one[flag] ?? false) === filter[flag],
    ),
  ];
  return (one) => tests.every((test) => test(one));
}

const isReviewRequested = ({ reviewRequestedFromMe, reviewRequestedFromMyTeam }: PullRequest): boolean =>
  reviewRequestedFromMe || reviewRequestedFromMyTeam === true;

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
