import type { Database } from '../../storage/database.js';
import type { BoardSnapshot } from '../boards/board.js';
import { type BoardViewer, toBoardRows } from '../forges/board-rows.js';
import { type ForgeConnection, isSameServer, listConnections } from '../forges/forge-clients.js';
import { FORGE_ERROR_MESSAGES } from '../forges/forge-error.js';
import {
  type ApiQuota,
  type ForgePullRequest,
  type Issue,
  type PullRequest,
  pullRequestKey,
  repositoryKey,
  withSeverity,
} from '../forges/forge.js';
import { MAX_PULL_REQUESTS } from '../forges/read-repositories.js';
import { isSame } from '../forges/sections.js';
import {
  type LocalState,
  type PullRequestState,
  readLocalState,
  type RepositoryState,
} from '../pull-requests/local-state.js';
import type { ForgeSettings } from '../settings/settings-rows.js';
import { type ForgeStatus, readForgeStatus } from './forge-status.js';
import { parseSnapshotData, type SnapshotData } from './repository-snapshots.js';

export interface ComposedBoard {
  readonly snapshot: BoardSnapshot;
  readonly marks: LocalState;
}

/** Builds the board from the stored snapshots and local state. @returns `undefined` if no forge was ever read. */
export async function composeBoard(
  transaction: Database,
  personId: string,
  { settings, at }: { readonly settings: ForgeSettings; readonly at: number },
): Promise<ComposedBoard | undefined> {
  const states = await readForgeStatus(transaction, personId);
  if (states.size === 0) return undefined;
  const marks = await readLocalState(transaction, personId, at);
  const stored = await readStored(transaction, personId);
  const parts = listConnections(settings).flatMap((connection) => {
    const state = states.get(connection.id);
    const repositories = stored.get(connection.id) ?? [];
    const { forge, username } = connection;
    const reader: BoardViewer = { forge, username, renovateAuthors: settings.renovateAuthors };
    return state === undefined ? [] : [{ connection, state, reader, repositories }];
  });
  return { snapshot: composeBoardSnapshot(withoutShadowed(parts), marks, at), marks };
}

/**
 * Lists each repository once, with the first working credential that reads all of it, because rows are identified by the kind of
 * forge and the name. Counts the repositories that are left out although they are at a different server.
 */
function withoutShadowed(parts: readonly ForgePart[]): ForgeBoardData[] {
  const readers = new Map<string, ForgePart>();
  const failing = parts.filter(({ state }) => state.errorKind !== undefined);
  const byHealth = [...parts.filter((part) => !failing.includes(part)), ...failing];
  const keyOf = ({ connection }: ForgePart, { fullName }: StoredRepository): string =>
    repositoryKey(connection.forge, fullName);
  for (const yoursOnly of [false, true]) {
    for (const part of byHealth) {
      for (const one of part.repositories) {
        const key = keyOf(part, one);
        if (one.yoursOnly === yoursOnly && !readers.has(key)) readers.set(key, part);
      }
    }
  }
  return parts.map((part) => {
    const listed = part.repositories.filter((one) => readers.get(keyOf(part, one)) === part);
    const shadowed = part.repositories.filter((one) => {
      const reader = readers.get(keyOf(part, one)) ?? part;
      return !isSameServer(reader.connection, part.connection);
    });
    return { ...part, repositories: listed, shadowed: shadowed.length };
  });
}

async function readStored(database: Database, personId: string): Promise<Map<string, StoredRepository[]>> {
  const rows = await database
    .selectFrom('forge_readings')
    .select(['forge', 'full_name', 'is_cut', 'yours_only', 'facts'])
    .where('person_id', '=', personId)
    .orderBy('full_name')
    .execute();
  const byForge = new Map<string, StoredRepository[]>();
  for (const { forge, full_name: fullName, is_cut, yours_only, facts } of rows) {
    const own = byForge.get(forge) ?? [];
    own.push({ fullName, isTruncated: is_cut === 1, yoursOnly: yours_only === 1, facts: parseSnapshotData(facts) });
    byForge.set(forge, own);
  }
  return byForge;
}

type ForgeHealth = BoardSnapshot['forges'][number];
type RepoStatus = BoardSnapshot['repos'][number];

/** No page lists more. Each issue takes about 400 characters. */
const MAX_ISSUES = 5_000;

/** The latest snapshot of one repository. */
interface StoredRepository {
  readonly fullName: string;
  readonly isTruncated: boolean;
  /** Whether it has only the pull requests in which the user is involved. */
  readonly yoursOnly: boolean;
  readonly facts: SnapshotData;
}

/** The data of one credential of a user. */
interface ForgePart {
  readonly connection: ForgeConnection;
  readonly state: ForgeStatus;
  readonly reader: BoardViewer;
  /** Sorted by name. */
  readonly repositories: readonly StoredRepository[];
}

interface ForgeBoardData extends ForgePart {
  /** The number of repositories with the same name as one at a different server. */
  readonly shadowed: number;
}

interface Rows {
  readonly pullRequests: readonly PullRequest[];
  readonly issues: readonly Issue[];
}

const DEFAULT_STATE: RepositoryState = {
  ignoredPRs: false,
  ignoredIssues: false,
  autoUpdateBranch: false,
  hasWebhook: false,
};

function composeBoardSnapshot(parts: readonly ForgeBoardData[], marks: LocalState, at: number): BoardSnapshot {
  const rows = parts.map((part) => {
    const own = toLimited(
      part.repositories.map((stored) => rowsOf(stored, part.reader, marks)),
      part.reader.username,
    );
    return { ...own, pullRequests: own.pullRequests.map((row) => ({ ...row, ...toCredential(part.connection) })) };
  });
  const health = parts.map((part, index) => toHealth(part, { isFull: rows[index]?.isFull ?? false, at, marks }));
  const isFirst = ({ forge }: ForgeHealth, index: number): boolean =>
    health.findIndex((one) => one.forge === forge) === index;
  const further = health.filter((one, index) => !isFirst(one, index));
  return {
    forges: health.filter(isFirst),
    ...(further.length > 0 && { furtherForges: further }),
    pullRequests: rows
      .flatMap(({ pullRequests }) => pullRequests)
      .filter((row) => !isHeld(marksOf(marks, row), at))
      .map((row) => withRequests(row, marksOf(marks, row))),
    issues: rows.flatMap(({ issues }) => issues),
    repos: parts.flatMap(({ connection, repositories, reader }) =>
      repositories.map((one) => ({ ...toStatus(one, reader, marks), ...toCredential(connection) })),
    ),
    autoMerged: [...marks.autoMerged],
  };
}

function toCredential({ id, label }: ForgeConnection): Pick<ForgeHealth, 'credential'> {
  return label === undefined ? {} : { credential: { id, label } };
}

/** Returns when the expiry of local state next changes the board, in milliseconds; `undefined` for never. */
export function findStateExpiry(marks: LocalState, at: number): number | undefined {
  const ends = [...marks.pullRequests.values()].flatMap(({ hiddenUntil, botRequest, updateRequest }) => [
    hiddenUntil ?? 0,
    Date.parse(botRequest?.expiresAt ?? ''),
    Date.parse(updateRequest?.expiresAt ?? ''),
  ]);
  const future = ends.filter((end) => end > at);
  return future.length === 0 ? undefined : Math.min(...future);
}

function rowsOf({ fullName, facts }: StoredRepository, reader: BoardViewer, marks: LocalState): Rows {
  const local = marks.repositories.get(repositoryKey(reader.forge, fullName)) ?? DEFAULT_STATE;
  const pullRequests = facts.pullRequests.map((one) =>
    withAutoMerge(one, marksOf(marks, { ...one, forge: reader.forge })),
  );
  return toBoardRows(
    { pullRequests: local.ignoredPRs ? [] : pullRequests, issues: local.ignoredIssues ? [] : facts.issues },
    reader,
  );
}

/** Limits the rows of a forge. Omits those of the last repositories first, and the user's last of all. */
function toLimited(repositories: readonly Rows[], username: string): Rows & { readonly isFull: boolean } {
  const pullRequests = repositories.flatMap((rows) => rows.pullRequests);
  const issues = repositories.flatMap((rows) => rows.issues);
  const isYours = (row: PullRequest): boolean => concerns(row, username);
  const byPerson = [...pullRequests.filter(isYours), ...pullRequests.filter((row) => !isYours(row))];
  const kept = new Set(byPerson.slice(0, MAX_PULL_REQUESTS));
  return {
    pullRequests: pullRequests.filter((row) => kept.has(row)),
    issues: issues.slice(0, MAX_ISSUES),
    isFull: pullRequests.length > MAX_PULL_REQUESTS,
  };
}

/** Reports whether the user opened a pull request, is asked to review it, or was found by a search for the user. */
const concerns = (row: PullRequest, username: string): boolean =>
  isSame(row.author, username) ||
  row.reviewRequestedFromMe ||
  row.reviewRequestedFromMyTeam === true ||
  row.foundBy !== undefined;

type Address = Pick<PullRequest, 'forge' | 'number' | 'repo'>;

function marksOf({ pullRequests }: LocalState, { forge, repo, number }: Address): PullRequestState | undefined {
  return pullRequests.size === 0 ? undefined : pullRequests.get(pullRequestKey(forge, repo, number));
}

const isHeld = (marks: PullRequestState | undefined, at: number): boolean => (marks?.hiddenUntil ?? 0) > at;

/** Shows auto-merges that Trellis performs in place of the forge as enabled, so that they can be cancelled. */
function withAutoMerge(facts: ForgePullRequest, marks: PullRequestState | undefined): ForgePullRequest {
  return marks?.autoMerge === undefined ? facts : { ...facts, autoMergeEnabled: true };
}

function withRequests(row: PullRequest, marks: PullRequestState | undefined): PullRequest {
  if (marks === undefined) return row;
  const { autoMerge, botRequest, updateRequest } = marks;
  return {
    ...row,
    ...(autoMerge && { autoMerge }),
    ...(botRequest && { botRequest }),
    ...(updateRequest && { updateRequest }),
  };
}

function toStatus(
  { fullName, yoursOnly, facts }: StoredRepository,
  { forge }: BoardViewer,
  marks: LocalState,
): RepoStatus {
  const { url, canManageWebhooks, stale } = facts;
  const local = marks.repositories.get(repositoryKey(forge, fullName)) ?? DEFAULT_STATE;
  const ignored = local.ignoredPRs || local.ignoredIssues;
  return {
    forge,
    fullName,
    url,
    canManageWebhooks,
    ...(stale && { stale }),
    ...(yoursOnly && { yoursOnly }),
    ...local,
    ignored,
  };
}

function toHealth(
  { connection, state, repositories, shadowed }: ForgeBoardData,
  { isFull, at, marks }: { readonly isFull: boolean; readonly at: number; readonly marks: LocalState },
): ForgeHealth {
  const { forge } = connection;
  const { errorKind, readAt, budgets, hidden, incompleteSearch, expiresAt } = state;
  return {
    forge,
    reachable: errorKind === undefined,
    repoCount: repositories.filter(({ yoursOnly }) => !yoursOnly).length,
    ...(errorKind === undefined && readAt === undefined && { reading: true }),
    truncated: isFull || repositories.some(({ isTruncated, facts }) => isTruncated && facts.stale !== true),
    ...(errorKind && {
      error: FORGE_ERROR_MESSAGES[errorKind],
      errorKind,
      ...(readAt === undefined ? {} : { staleSince: new Date(readAt).toISOString() }),
    }),
    ...(hidden && { hidden }),
    ...toCredential(connection),
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
    ...(shadowed > 0 && { shadowed }),
    ...(incompleteSearch && { incompleteSearch }),
    ...(budgets.graphql && { rateLimitGraphQL: toRateLimit(budgets.graphql, at) }),
    // Dependabot runs on GitHub only.
    ...(forge === 'github' && isRefused(marks) && { dependabotCommandsBlocked: true }),
    ...(budgets.rest && { rateLimitREST: toRateLimit(budgets.rest, at) }),
  };
}

const isRefused = ({ pullRequests }: LocalState): boolean =>
  [...pullRequests.values()].some((one) => one.isRejected === true);

/** The severity is computed again whenever the board is rendered. */
const toRateLimit = (quota: ApiQuota, at: number) => withSeverity({ ...quota, severity: 'ok' }, at);
