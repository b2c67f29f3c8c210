/** Builds a board snapshot from repository snapshots and local state. */
import { pullRequestKey, repositoryKey } from '../actions/marks.js';
import type { Marks, PullRequestMarks, RepositoryMarks } from '../actions/marks.js';
import type { Snapshot } from '../board.js';
import { MAX_PULL_REQUESTS } from '../forges/bounded.js';
import type { Issue, PullRequest, PullRequestFacts } from '../forges/facts.js';
import { FORGE_ERROR_SENTENCES } from '../forges/forge-error.js';
import type { Budget } from '../forges/forge.js';
import { toRows } from '../forges/rules/to-rows.js';
import type { Reader } from '../forges/rules/to-rows.js';
import { gradeRateLimit } from '../rate-limit.js';
import type { StoredFacts } from './readings.js';
import type { ForgeState } from './states.js';

type ForgeHealth = Snapshot['forges'][number];
type RepoStatus = Snapshot['repos'][number];

/** No page lists more. Each issue takes about 400 characters. */
const MAX_ISSUES = 5_000;

/** The latest snapshot of one repository. */
export interface Stored {
  readonly fullName: string;
  readonly isCut: boolean;
  readonly facts: StoredFacts;
}

/** The data of one forge of a user. */
export interface ForgePart {
  readonly state: ForgeState;
  readonly reader: Reader;
  /** Sorted by name. */
  readonly repositories: readonly Stored[];
}

interface Rows {
  readonly pullRequests: readonly PullRequest[];
  readonly issues: readonly Issue[];
}

const DEFAULT_STATE: RepositoryMarks = {
  ignoredPRs: false,
  ignoredIssues: false,
  autoUpdateBranch: false,
  hasWebhook: false,
};

export function composeSnapshot(parts: readonly ForgePart[], marks: Marks, at: number): Snapshot {
  const rows = parts.map((part) => toLimited(part.repositories.map((stored) => rowsOf(stored, part.reader, marks))));
  return {
    forges: parts.map((part, index) => toHealth(part, { isFull: rows[index]?.isFull ?? false, at, marks })),
    pullRequests: rows
      .flatMap(({ pullRequests }) => pullRequests)
      .filter((row) => !isHeld(marksOf(marks, row), at))
      .map((row) => withRequests(row, marksOf(marks, row))),
    issues: rows.flatMap(({ issues }) => issues),
    repos: parts.flatMap(({ repositories, reader }) => repositories.map((one) => toStatus(one, reader, marks))),
    autoMerged: [...marks.autoMerged],
  };
}

/** Returns when the expiry of local state next changes the board, in milliseconds; `undefined` for never. */
export function findMarksEnd(marks: Marks, at: number): number | undefined {
  const ends = [...marks.pullRequests.values()].flatMap(({ heldUntil, botRequest, updateRequest }) => [
    heldUntil ?? 0,
    Date.parse(botRequest?.expiresAt ?? ''),
    Date.parse(updateRequest?.expiresAt ?? ''),
  ]);
  const future = ends.filter((end) => end > at);
  return future.length === 0 ? undefined : Math.min(...future);
}

function rowsOf({ fullName, facts }: Stored, reader: Reader, marks: Marks): Rows {
  const local = marks.repositories.get(repositoryKey(reader.forge, fullName)) ?? DEFAULT_STATE;
  const pullRequests = facts.pullRequests.map((one) =>
    withAutoMerge(one, marksOf(marks, { ...one, forge: reader.forge })),
  );
  return toRows(
    { pullRequests: local.ignoredPRs ? [] : pullRequests, issues: local.ignoredIssues ? [] : facts.issues },
    reader,
  );
}

/** Limits the rows of a forge. Omits those of the last repositories first. */
function toLimited(repositories: readonly Rows[]): Rows & { readonly isFull: boolean } {
  const pullRequests = repositories.flatMap((rows) => rows.pullRequests);
  const issues = repositories.flatMap((rows) => rows.issues);
  return {
    pullRequests: pullRequests.slice(0, MAX_PULL_REQUESTS),
    issues: issues.slice(0, MAX_ISSUES),
    isFull: pullRequests.length > MAX_PULL_REQUESTS,
  };
}

type Address = Pick<PullRequest, 'forge' | 'number' | 'repo'>;

function marksOf({ pullRequests }: Marks, { forge, repo, number }: Address): PullRequestMarks | undefined {
  return pullRequests.size === 0 ? undefined : pullRequests.get(pullRequestKey(forge, repo, number));
}

const isHeld = (marks: PullRequestMarks | undefined, at: number): boolean => (marks?.heldUntil ?? 0) > at;

/** Shows auto-merges that Trellis performs in place of the forge as enabled, so that they can be cancelled. */
function withAutoMerge(facts: PullRequestFacts, marks: PullRequestMarks | undefined): PullRequestFacts {
  return marks?.autoMerge === undefined ? facts : { ...facts, autoMergeEnabled: true };
}

function withRequests(row: PullRequest, marks: PullRequestMarks | undefined): PullRequest {
  if (marks === undefined) return row;
  const { autoMerge, botRequest, updateRequest } = marks;
  return {
    ...row,
    ...(autoMerge && { autoMerge }),
    ...(botRequest && { botRequest }),
    ...(updateRequest && { updateRequest }),
  };
}

function toStatus({ fullName, facts }: Stored, { forge }: Reader, marks: Marks): RepoStatus {
  const { url, canManageWebhooks, stale } = facts;
  const local = marks.repositories.get(repositoryKey(forge, fullName)) ?? DEFAULT_STATE;
  const ignored = local.ignoredPRs || local.ignoredIssues;
  return { forge, fullName, url, canManageWebhooks, ...(stale && { stale }), ...local, ignored };
}

function toHealth(
  { state, repositories }: ForgePart,
  { isFull, at, marks }: { readonly isFull: boolean; readonly at: number; readonly marks: Marks },
): ForgeHealth {
  const { forge, errorKind, readAt, budgets } = state;
  return {
    forge,
    reachable: errorKind === undefined,
    repoCount: repositories.length,
    truncated: isFull || repositories.some(({ isCut, facts }) => isCut && facts.stale !== true),
    ...(errorKind && {
      error: FORGE_ERROR_SENTENCES[errorKind],
      errorKind,
      ...(readAt === undefined ? {} : { staleSince: new Date(readAt).toISOString() }),
    }),
    ...(budgets.graphql && { rateLimitGraphQL: toRateLimit(budgets.graphql, at) }),
    // Dependabot runs on GitHub only.
    ...(forge === 'github' && isRefused(marks) && { dependabotCommandsBlocked: true }),
    ...(budgets.rest && { rateLimitREST: toRateLimit(budgets.rest, at) }),
  };
}

const isRefused = ({ pullRequests }: Marks): boolean =>
  [...pullRequests.values()].some((one) => one.isRefused === true);

/** The severity is computed again whenever the board is rendered. */
const toRateLimit = (quota: Budget, at: number) => gradeRateLimit({ ...quota, severity: 'ok' }, at);
