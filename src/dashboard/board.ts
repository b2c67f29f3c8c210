/** A stored board as one reader sees it at one moment. */
import type { components } from '../generated/dashboard/types.js';
import { SECTIONS } from './forges/rules/sections.js';
import { gradeRateLimit } from './rate-limit.js';

type Schemas = components['schemas'];
export type Board = Schemas['Dashboard'];
type PullRequest = Schemas['PullRequest'];

/** What a refresh leaves behind; the rest of a board follows from it. */
export type Snapshot = Pick<Board, 'autoMerged' | 'forges' | 'issues' | 'pullRequests' | 'repos'>;

export const EMPTY_SNAPSHOT: Snapshot = { forges: [], pullRequests: [], issues: [], repos: [], autoMerged: [] };

/** How often an open page should read again. */
const READ_INTERVAL_SECONDS = 30;

/** Merges that happened by themselves are news for this long. */
const AUTO_MERGED_MS = 600_000;

export interface View {
  readonly generatedAt: number;
  readonly includeDrafts: boolean;
  /** The moment of reading, in milliseconds. */
  readonly at: number;
}

/** A snapshot, with what is the same whoever reads it, and when. */
export interface ArrangedSnapshot extends Snapshot {
  readonly withoutDrafts: PullRequest[];
  readonly openIssueCount: number;
  readonly hiddenDrafts: number;
}

/** Puts what can be merged now first, then what moved last. The lists are frozen, to be sent again as they are. */
export function arrange(snapshot: Snapshot): ArrangedSnapshot {
  const pullRequests = [...snapshot.pullRequests].sort((a, b) => urgency(a) - urgency(b) || byActivity(a, b));
  return {
    ...snapshot,
    pullRequests: frozen(pullRequests),
    withoutDrafts: frozen(pullRequests.filter(({ draft }) => !draft)),
    issues: frozen([...snapshot.issues].sort(byActivity)),
    repos: frozen([...snapshot.repos]),
    openIssueCount: snapshot.issues.filter(({ housekeeping }) => !housekeeping).length,
    hiddenDrafts: countDrafts(snapshot),
  };
}

/** As frozen as can be told from the contract's types, which know no such lists. */
const frozen = <T>(list: T[]): T[] => Object.freeze(list) as T[];

export function showBoard(snapshot: ArrangedSnapshot, { generatedAt, includeDrafts, at }: View): Board {
  const { pullRequests, withoutDrafts, issues, repos, openIssueCount, hiddenDrafts } = snapshot;
  return {
    generatedAt: new Date(generatedAt).toISOString(),
    readIntervalSeconds: READ_INTERVAL_SECONDS,
    forges: snapshot.forges.map((forge) => gradeForge(forge, at)),
    pullRequests: includeDrafts ? pullRequests : withoutDrafts,
    issues,
    repos,
    openIssueCount,
    hiddenDrafts: includeDrafts ? 0 : hiddenDrafts,
    hiddenSnoozed: 0,
    sections: countSections(includeDrafts ? pullRequests : withoutDrafts),
    autoMerged: snapshot.autoMerged.filter(({ mergedAt }) => at - Date.parse(mergedAt) <= AUTO_MERGED_MS),
  };
}

function countSections(pullRequests: readonly PullRequest[]): Board['sections'] {
  return SECTIONS.map((section) => ({ section, count: pullRequests.filter((one) => one.section === section).length }));
}

/** What can be merged now comes first. */
function urgency({ mergeStatus, ci }: PullRequest): number {
  return mergeStatus === 'mergeable' && ci !== 'pending' ? 0 : 1;
}

function byActivity(a: { readonly updatedAt: string }, b: { readonly updatedAt: string }): number {
  return Date.parse(b.updatedAt) - Date.parse(a.updatedAt);
}

/** Drafts in repositories whose pull requests are ignored would not be shown anyway. */
function countDrafts({ pullRequests, repos }: Snapshot): number {
  const ignored = new Set(
    repos.filter(({ ignoredPRs }) => ignoredPRs).map(({ forge, fullName }) => `${forge} ${fullName}`),
  );
  return pullRequests.filter(({ draft, forge, repo }) => draft && !ignored.has(`${forge} ${repo}`)).length;
}

function gradeForge(forge: Schemas['ForgeHealth'], at: number): Schemas['ForgeHealth'] {
  const { rateLimitGraphQL, rateLimitREST } = forge;
  return {
    ...forge,
    ...(rateLimitGraphQL && { rateLimitGraphQL: gradeRateLimit(rateLimitGraphQL, at) }),
    ...(rateLimitREST && { rateLimitREST: gradeRateLimit(rateLimitREST, at) }),
  };
}
