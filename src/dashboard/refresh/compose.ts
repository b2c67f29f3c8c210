/** A board of what was read and what is marked on it. */
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

/** No page lists more, and each has some 400 characters. */
const MAX_ISSUES = 5_000;

/** What was last read of one repository. */
export interface Stored {
  readonly fullName: string;
  readonly isCut: boolean;
  readonly facts: StoredFacts;
}

/** One forge of a person. */
export interface ForgePart {
  readonly state: ForgeState;
  readonly reader: Reader;
  /** By name. */
  readonly repositories: readonly Stored[];
}

interface Rows {
  readonly pullRequests: readonly PullRequest[];
  readonly issues: readonly Issue[];
}

const UNMARKED: RepositoryMarks = {
  ignoredPRs: false,
  ignoredIssues: false,
  autoUpdateBranch: false,
  hasWebhook: false,
};

export function composeSnapshot(parts: readonly ForgePart[], marks: Marks, at: number): Snapshot {
  const rows = parts.map((part) => bounded(part.repositories.map((stored) => rowsOf(stored, part.reader, marks))));
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

/** When the marks alone make another board of it; `undefined` for never. */
export function findMarksEnd(marks: Marks, at: number): number | undefined {
  const ends = [...marks.pullRequests.values()].flatMap(({ heldUntil, botRequest, updateRequest }) => [
    heldUntil ?? 0,
    Date.parse(botRequest?.expiresAt ?? ''),
    Date.parse(updateRequest?.expiresAt ?? ''),
  ]);
  const coming = ends.filter((end) => end > at);
  return coming.length === 0 ? undefined : Math.min(...coming);
}

function rowsOf({ fullName, facts }: Stored, reader: Reader, marks: Marks): Rows {
  const marked = marks.repositories.get(repositoryKey(reader.forge, fullName)) ?? UNMARKED;
  const armed = facts.pullRequests.map((one) => withAutoMerge(one, marksOf(marks, { ...one, forge: reader.forge })));
  return toRows(
    { pullRequests: marked.ignoredPRs ? [] : armed, issues: marked.ignoredIssues ? [] : facts.issues },
    reader,
  );
}

/** Leaves out what is more than a board takes of a forge, of the last repositories first. */
function bounded(repositories: readonly Rows[]): Rows & { readonly isFull: boolean } {
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

/** Where the forge leaves it to us it is on when we say so, and then it can be cancelled. */
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
  const marked = marks.repositories.get(repositoryKey(forge, fullName)) ?? UNMARKED;
  const ignored = marked.ignoredPRs || marked.ignoredIssues;
  return { forge, fullName, url, canManageWebhooks, ...(stale && { stale }), ...marked, ignored };
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
    // Only GitHub has Dependabot.
    ...(forge === 'github' && isRefused(marks) && { dependabotCommandsBlocked: true }),
    ...(budgets.rest && { rateLimitREST: toRateLimit(budgets.rest, at) }),
  };
}

const isRefused = ({ pullRequests }: Marks): boolean =>
  [...pullRequests.values()].some((one) => one.isRefused === true);

/** It is graded again whenever it is read. */
const toRateLimit = (budget: Budget, at: number) => gradeRateLimit({ ...budget, severity: 'ok' }, at);
