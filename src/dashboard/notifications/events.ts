/** Finds the events of a board: the differences to its predecessor that a user may want to be notified of. */
import type { components } from '../../generated/dashboard/types.js';
import type { BoardSnapshot } from '../boards/board.js';
import { type ForgeName, type PullRequest, pullRequestKey, repositoryKey } from '../forges/forge.js';

export type EventKind = components['schemas']['NotificationEventKind'];

/** An event as messages show it. */
export type NotificationEvent = PullRequestEvent | RotationEvent;

/** A secret that is due for rotation. */
export interface RotationEvent {
  readonly kind: 'rotation_due';
  /** The name of the secret. */
  readonly secret: string;
  readonly url: string;
}

/** A change of a pull request. */
export interface PullRequestEvent {
  readonly kind: Exclude<EventKind, 'rotation_due'>;
  readonly forge: ForgeName;
  readonly repo: string;
  readonly number: number;
  readonly title: string;
  readonly url: string;
  readonly author: string;
  /** Whether the review of a team is requested, not that of the user by name. */
  readonly isTeam?: true;
}

export interface FoundEvent<Event extends NotificationEvent = NotificationEvent> {
  /** Is the same whenever the same event is found again. */
  readonly key: string;
  readonly event: Event;
  /** Whether only the forge knows if the event has happened: it reports merged and closed pull requests alike. */
  readonly isUnconfirmed?: true;
}

/** Two boards that follow each other. */
export interface BoardStep {
  readonly before: BoardSnapshot;
  readonly beforeAt: number;
  readonly after: BoardSnapshot;
  readonly at: number;
  /** The user's usernames at the forges; empty for a forge without one. */
  readonly usernames: Readonly<Record<ForgeName, string>>;
  /** The usernames of further credentials, by their id. */
  readonly credentialUsernames?: ReadonlyMap<string, string>;
  readonly staleDays: number;
}

const DAY_MS = 86_400_000;

/**
 * A pull request of a repository that the board did not list before is an event only if it changed in this time. The
 * first reading of a forge would otherwise report everything on it.
 */
const RECENT_MS = 3_600_000;

/** Lists the events of a board in the order of its pull requests. */
export function findEvents(step: BoardStep): FoundEvent<PullRequestEvent>[] {
  const before = new Map(step.before.pullRequests.map((row) => [keyOf(row), row]));
  const listed = listComparable(step);
  const usernameOf = ({ forge, credential }: PullRequest): string =>
    step.credentialUsernames?.get(credential?.id ?? '') ?? step.usernames[forge];
  const isMine = (row: PullRequest): boolean => isSameUser(row.author, usernameOf(row));
  const found = step.after.pullRequests.flatMap((row) => {
    const last = before.get(keyOf(row));
    if (last === undefined && !listed.has(repositoryKey(row.forge, row.repo)) && !isRecent(row, step.beforeAt))
      return [];
    return isMine(row) ? findOwn(row, last) : findRequested(row, last);
  });
  return [...found, ...findStale(step, isMine), ...findClosed(step, isMine)];
}

const keyOf = ({ forge, repo, number }: PullRequest): string => pullRequestKey(forge, repo, number);

const isSameUser = (login: string, username: string): boolean =>
  username !== '' && login.toLowerCase() === username.toLowerCase();

const isRecent = ({ updatedAt }: PullRequest, since: number): boolean => Date.parse(updatedAt) > since - RECENT_MS;

/** Returns the keys of the repositories whose open pull requests are all on the board. */
function listWholeRepositories({ repos }: BoardSnapshot): ReadonlySet<string> {
  const whole = repos.filter(({ ignoredPRs, stale }) => !ignoredPRs && stale !== true);
  return new Set(whole.map(({ forge, fullName }) => repositoryKey(forge, fullName)));
}

/**
 * Returns the keys of the repositories with comparable pull requests. A repository that had only those of the user
 * before would otherwise report all others.
 */
function listComparable({ before, after }: BoardStep): ReadonlySet<string> {
  const keyOfRepository = ({ forge, fullName }: BoardSnapshot['repos'][number]) => repositoryKey(forge, fullName);
  const whole = new Set(after.repos.filter(({ yoursOnly }) => yoursOnly !== true).map(keyOfRepository));
  const grown = before.repos.filter((one) => one.yoursOnly === true && whole.has(keyOfRepository(one)));
  const grownKeys = new Set(grown.map(keyOfRepository));
  return new Set([...listWholeRepositories(before)].filter((key) => !grownKeys.has(key)));
}

function toFound(
  kind: PullRequestEvent['kind'],
  row: PullRequest,
  discriminator: string,
): FoundEvent<PullRequestEvent> {
  const { forge, repo, number, title, url, author } = row;
  const event = { kind, forge, repo, number, title, url, author };
  return { key: [kind, keyOf(row), discriminator].join(' '), event };
}

const isRequested = ({ reviewRequestedFromMe, reviewRequestedFromMyTeam }: PullRequest): boolean =>
  reviewRequestedFromMe || reviewRequestedFromMyTeam === true;

function findRequested(row: PullRequest, last: PullRequest | undefined): FoundEvent<PullRequestEvent>[] {
  if (!isRequested(row) || (last !== undefined && isRequested(last))) return [];
  // A row that was absent for a while is not requested again; one that was there is.
  const found = toFound('review_requested', row, last === undefined ? commitOf(row) : row.updatedAt);
  return [row.reviewRequestedFromMe ? found : { ...found, event: { ...found.event, isTeam: true } }];
}

/** Returns the head commit, or what comes closest to it at a forge that does not report it. */
const commitOf = ({ headSha, updatedAt }: PullRequest): string => (headSha === '' ? updatedAt : headSha);

function findOwn(row: PullRequest, last: PullRequest | undefined): FoundEvent<PullRequestEvent>[] {
  const found: FoundEvent<PullRequestEvent>[] = [];
  const commit = commitOf(row);
  if (row.ci === 'failure' && !(last?.ci === 'failure' && commitOf(last) === commit)) {
    found.push(toFound('checks_failed', row, commit));
  }
  const { decision, approvals = 0 } = row.review ?? {};
  const { decision: lastDecision, approvals: lastApprovals = 0 } = last?.review ?? {};
  if (approvals > lastApprovals || (decision === 'approved' && lastDecision !== 'approved')) {
    found.push(toFound('approved', row, `${commit} ${approvals}`));
  }
  if (decision === 'changes_requested' && lastDecision !== 'changes_requested') {
    found.push(toFound('changes_requested', row, commit));
  }
  return found;
}

/** Finds the pull requests that became stale between the two boards. */
function findStale(
  { beforeAt, after, at, staleDays }: BoardStep,
  isMine: (row: PullRequest) => boolean,
): FoundEvent<PullRequestEvent>[] {
  const crossed = after.pullRequests.filter(({ updatedAt }) => {
    const staleAt = Date.parse(updatedAt) + staleDays * DAY_MS;
    return staleAt > beforeAt && staleAt <= at;
  });
  const relevant = crossed.filter((row) => !row.draft && (isMine(row) || isRequested(row)));
  return relevant.map((row) => toFound('stale', row, row.updatedAt));
}

/** Finds the user's pull requests that the forge no longer lists as open, as far as it was read. */
function findClosed(
  { before, after }: BoardStep,
  isMine: (row: PullRequest) => boolean,
): FoundEvent<PullRequestEvent>[] {
  const open = new Set(after.pullRequests.map(keyOf));
  const read = listWholeRepositories(after);
  return before.pullRequests
    .filter((row) => isMine(row) && !open.has(keyOf(row)) && read.has(repositoryKey(row.forge, row.repo)))
    .map((row) => ({ ...toFound('merged', row, ''), isUnconfirmed: true as const }));
}
