/** Renders a stored board snapshot for one reader at one moment. */
import { parseBoardSearch } from '../../board-search/board-search.js';
import type { components } from '../../generated/dashboard/types.js';
import { withSeverity } from '../forges/forge.js';
import { SECTIONS } from '../forges/sections.js';
import { isSnoozed, type OwnerState, type Snooze, type Changes, toPullRequestKey } from './owner-state.js';
import { applyView, listExpiries, type View } from './views.js';

type Schemas = components['schemas'];
export type Board = Schemas['Dashboard'];
type PullRequest = Schemas['PullRequest'];

/** The stored result of a refresh. The other fields of a board are derived from it. */
export type BoardSnapshot = Pick<
  Board,
  'autoMerged' | 'forges' | 'furtherForges' | 'issues' | 'pullRequests' | 'repos'
>;

export const EMPTY_BOARD_SNAPSHOT: BoardSnapshot = {
  forges: [],
  pullRequests: [],
  issues: [],
  repos: [],
  autoMerged: [],
};

/** How often an open page should reload the board. */
const READ_INTERVAL_SECONDS = 30;

/** How long the board lists pull requests that were merged automatically. */
const AUTO_MERGED_MS = 600_000;

export interface RenderOptions {
  readonly generatedAt: number;
  /** The moment of reading, in milliseconds. */
  readonly at: number;
  readonly includeDrafts: boolean;
  readonly includeSnoozed: boolean;
  /** Set on the caller's own board only: other readers have no visits and snoozes there. */
  readonly reader?: OwnerState;
  readonly view?: View;
}

/** A snapshot with the derived values that don't depend on the reader or the time. */
export interface PreparedSnapshot extends BoardSnapshot {
  readonly withoutDrafts: readonly PullRequest[];
  readonly openIssueCount: number;
  readonly hiddenDrafts: number;
  readonly changes: Changes;
}

/**
 * Sorts pull requests: those that can be merged now first, then by last update, newest first. Freezes the lists, so
 * that rendered boards can share them.
 */
export function prepareSnapshot(snapshot: BoardSnapshot, changes: Changes = {}): PreparedSnapshot {
  const pullRequests = [...snapshot.pullRequests].sort((a, b) => urgency(a) - urgency(b) || byActivity(a, b));
  return {
    ...snapshot,
    pullRequests: Object.freeze(pullRequests),
    withoutDrafts: Object.freeze(pullRequests.filter(({ draft }) => !draft)),
    issues: Object.freeze([...snapshot.issues].sort(byActivity)),
    repos: Object.freeze([...snapshot.repos]),
    openIssueCount: snapshot.issues.filter(({ housekeeping }) => !housekeeping).length,
    hiddenDrafts: countDrafts(snapshot),
    changes,
  };
}

/** Renders a board. It is frozen and can be reused until the time that {@link findExpiry} returns. */
export function renderBoard(snapshot: PreparedSnapshot, options: RenderOptions): Board {
  const { at, view } = options;
  const { includeDrafts, includeSnoozed } = toIncluded(options);
  const marked = mark(includeDrafts ? snapshot.pullRequests : snapshot.withoutDrafts, snapshot, options);
  const listed = includeSnoozed ? marked : withoutSnoozed(marked);
  return Object.freeze({
    generatedAt: new Date(options.generatedAt).toISOString(),
    readIntervalSeconds: READ_INTERVAL_SECONDS,
    forges: snapshot.forges.map((forge) => gradeForge(forge, at)),
    ...(snapshot.furtherForges && { furtherForges: snapshot.furtherForges.map((forge) => gradeForge(forge, at)) }),
    pullRequests: view === undefined ? listed : applyView(listed, view, at),
    issues: snapshot.issues,
    repos: snapshot.repos,
    openIssueCount: snapshot.openIssueCount,
    hiddenDrafts: includeDrafts ? 0 : snapshot.hiddenDrafts,
    hiddenSnoozed: marked.length - listed.length,
    sections: countSections(listed),
    autoMerged: snapshot.autoMerged.filter(({ mergedAt }) => at - Date.parse(mergedAt) <= AUTO_MERGED_MS),
  });
}

/** Returns the first time after `at` at which the passing of time alone changes the board, or infinity. */
export function findExpiry(
  { autoMerged, forges, furtherForges = [], pullRequests }: PreparedSnapshot,
  { at, reader, view }: RenderOptions,
): number {
  const ends = [
    ...autoMerged.map(({ mergedAt }) => Date.parse(mergedAt) + AUTO_MERGED_MS + 1),
    ...[...forges, ...furtherForges]
      .flatMap(({ rateLimitGraphQL, rateLimitREST }) => [rateLimitGraphQL, rateLimitREST])
      .map((quota) => Date.parse(quota?.resetsAt ?? '')),
    ...[...(reader?.snoozes.values() ?? [])].map(({ until = NaN }) => until),
    ...(view === undefined ? [] : listExpiries(pullRequests, view)),
  ];
  return ends.reduce((first, end) => (end > at && end < first ? end : first), Infinity);
}

/** A view that selects the drafts section, or searches for drafts or snoozed rows, includes them without query parameters. */
function toIncluded({
  includeDrafts,
  includeSnoozed,
  view,
}: RenderOptions): Pick<RenderOptions, 'includeDrafts' | 'includeSnoozed'> {
  const { sections, search = '' } = view?.filter ?? {};
  const { states } = parseBoardSearch(search);
  return {
    includeDrafts: includeDrafts || sections?.includes('drafts') === true || states.has('draft'),
    includeSnoozed: includeSnoozed || states.has('snoozed'),
  };
}

function mark(
  list: readonly PullRequest[],
  { changes }: PreparedSnapshot,
  { at, reader }: RenderOptions,
): readonly PullRequest[] {
  if (reader === undefined || (reader.seenAt === undefined && reader.snoozes.size === 0)) return list;
  return list.map((one) => {
    const key = toPullRequestKey(one);
    const [change, snooze] = [changes[key], reader.snoozes.get(key)];
    return {
      ...one,
      ...(reader.seenAt === undefined ? {} : { changedSinceVisit: change !== undefined && change.at > reader.seenAt }),
      ...(snooze !== undefined && isSnoozed(snooze, change, at) ? { snooze: toShown(snooze) } : {}),
    };
  });
}

function toShown({ until, untilChange }: Snooze): Schemas['Snooze'] {
  return { ...(until === undefined ? {} : { until: new Date(until).toISOString() }), untilChange };
}

function withoutSnoozed(list: readonly PullRequest[]): readonly PullRequest[] {
  return list.some(({ snooze }) => snooze) ? list.filter(({ snooze }) => !snooze) : list;
}

function countSections(pullRequests: readonly PullRequest[]): Board['sections'] {
  return SECTIONS.map((section) => ({ section, count: pullRequests.filter((one) => one.section === section).length }));
}

/** Returns a sort key: 0 for pull requests that can be merged now, else 1. */
function urgency({ mergeStatus, ci }: PullRequest): number {
  return mergeStatus === 'mergeable' && ci !== 'pending' ? 0 : 1;
}

function byActivity(a: { readonly updatedAt: string }, b: { readonly updatedAt: string }): number {
  return Date.parse(b.updatedAt) - Date.parse(a.updatedAt);
}

/** Skips drafts of repositories whose pull requests are ignored, as those are never listed. */
function countDrafts({ pullRequests, repos }: BoardSnapshot): number {
  const ignored = new Set(
    repos.filter(({ ignoredPRs }) => ignoredPRs).map(({ forge, fullName }) => `${forge} ${fullName}`),
  );
  return pullRequests.filter(({ draft, forge, repo }) => draft && !ignored.has(`${forge} ${repo}`)).length;
}

function gradeForge(forge: Schemas['ForgeHealth'], at: number): Schemas['ForgeHealth'] {
  const { rateLimitGraphQL, rateLimitREST } = forge;
  return {
    ...forge,
    ...(rateLimitGraphQL && { rateLimitGraphQL: withSeverity(rateLimitGraphQL, at) }),
    ...(rateLimitREST && { rateLimitREST: withSeverity(rateLimitREST, at) }),
  };
}
