import { batch, computed, effect, signal } from '@preact/signals';
import type { FirstRows } from '../../../../dashboard/boards/first-rows.js';
import { ApiError } from '../../../../generated/dashboard/client.js';
import type { Problem } from '../../api.js';
import { pendingConfirmation } from '../../ui/confirmation.js';
import { formatTime, serverNow } from '../../ui/times.js';
import {
  type Board,
  countIssues,
  countPullRequests,
  FORGE_NAMES,
  getRowKey,
  type PullRequest,
  type Repository,
  reuseRows,
} from './rows.js';

/** The username of the owner of the board on screen; empty for the signed-in user's own board. */
export const boardOwner = signal('');

/** The board on screen. Updates that change its lists wait in {@link newestBoard} until the user asks for them. */
export const shownBoard = signal<Board | undefined>(undefined);

/** The newest board that the server sent. */
export const newestBoard = signal<Board | undefined>(undefined);

/** The first rows of the user's own board, until the whole board is there. */
export const firstRows = signal<FirstRows | undefined>(undefined);

/** Why the newest board could not be read. */
export const boardError = signal<Problem | undefined>(undefined);

/** While true, updates are stored but neither shown nor counted. */
export const isPaused = signal(false);

/** The number of changed rows that wait behind the updates bar. */
export const pendingUpdates = computed(() =>
  isPaused.value ? 0 : countPullRequests(shownBoard.value, newestBoard.value),
);

export const pendingIssueUpdates = computed(() =>
  isPaused.value ? 0 : countIssues(shownBoard.value, newestBoard.value),
);

/** The expiry of rows that an action on this page removed: a board read before the action may still contain them. */
const removed = new Map<string, number>();

/** Equals the time for which the server hides such a row. */
const REMOVED_MS = 120_000;

export function showNewest(): void {
  shownBoard.value = newestBoard.value;
}

/** Switches to a different owner's board; an empty name selects the user's own. */
export function selectBoard(username: string): void {
  boardOwner.value = username;
  firstRows.value = undefined;
  shownBoard.value = undefined;
  newestBoard.value = undefined;
}

/** Removes a row as soon as the server has confirmed its action. */
export function removeRow(row: PullRequest): void {
  removed.set(getRowKey(row), Date.now() + REMOVED_MS);
  if (newestBoard.value) newestBoard.value = withoutRemoved(newestBoard.value);
  whenStill(() => {
    if (shownBoard.value) shownBoard.value = withoutRemoved(shownBoard.value);
  });
}

/** Applies a change once no button waits for a confirmation, so that the button does not move before it is pressed. */
function whenStill(change: () => void): void {
  if (pendingConfirmation.peek() === undefined) {
    change();
    return;
  }
  const stop = pendingConfirmation.subscribe((question) => {
    if (question !== undefined) return;
    stop();
    change();
  });
}

/** Shows a change that this page made to a row, without showing other waiting updates. */
export function changeRow(row: PullRequest, change: (one: PullRequest) => PullRequest): void {
  const inBoard = (board: Board): Board => ({
    ...board,
    pullRequests: board.pullRequests.map((one) => (getRowKey(one) === getRowKey(row) ? change(one) : one)),
  });
  if (shownBoard.value) shownBoard.value = inBoard(shownBoard.value);
  if (newestBoard.value) newestBoard.value = inBoard(newestBoard.value);
}

/** Shows a change that this page made to a repository. */
export function changeRepository(
  { forge, fullName }: Pick<Repository, 'forge' | 'fullName'>,
  change: Partial<Repository>,
): void {
  const inBoard = (board: Board): Board => ({
    ...board,
    repos: board.repos.map((one) => (one.forge === forge && one.fullName === fullName ? { ...one, ...change } : one)),
  });
  if (shownBoard.value) shownBoard.value = inBoard(shownBoard.value);
  if (newestBoard.value) newestBoard.value = inBoard(newestBoard.value);
}

function withoutRemoved(board: Board): Board {
  for (const [key, until] of removed) if (until < Date.now()) removed.delete(key);
  return removed.size === 0
    ? board
    : { ...board, pullRequests: board.pullRequests.filter((row) => !removed.has(getRowKey(row))) };
}

/**
 * Accepts a board from the server. Changed lists wait behind the updates bar, unless `isAsked`; the rest is shown at
 * once.
 */
export function applyBoard(board: Board, isAsked: boolean): void {
  const next = reuseRows(newestBoard.value ?? firstRows.value?.board, withoutRemoved(board));
  const isShown = isAsked || shownBoard.value === undefined;
  // Computed values that depend on both signals are updated once.
  batch(() => {
    boardError.value = undefined;
    firstRows.value = undefined;
    newestBoard.value = next;
    if (isShown) shownBoard.value = next;
  });
  if (!isShown) whenStill(showUnchanged);
}

/**
 * Shows the parts of the newest board that move no row. An empty list has no rows to move, so its first rows appear.
 */
function showUnchanged(): void {
  const { value: next } = newestBoard;
  const { value: now } = shownBoard;
  if (now === undefined || next === undefined || isPaused.value) return;
  const keep = <Row>(isWaiting: boolean, before: readonly Row[], after: readonly Row[]): readonly Row[] =>
    isWaiting && before.length > 0 ? before : after;
  const pullRequests = keep(pendingUpdates.value > 0, now.pullRequests, next.pullRequests);
  shownBoard.value = { ...next, pullRequests, issues: keep(pendingIssueUpdates.value > 0, now.issues, next.issues) };
}

type Forge = Board['forges'][number];

/** What an action concerns: the forge, and the further credential that acts on it. */
type Place = Pick<Forge, 'credential' | 'forge'>;

/** A credential whose rate limit is exceeded, and until when, in milliseconds since the epoch. */
interface RateLimitLock extends Place {
  readonly until: number;
}

/** The rate limit resets that error responses have reported since the page was loaded. */
const reported = signal<ReadonlyMap<string, RateLimitLock>>(new Map());

const now = signal(serverNow());

/** The name of the forge stands for the credential in the settings. */
const keyOf = ({ forge, credential }: Place): string => credential?.id ?? forge;

const locks = computed<ReadonlyMap<string, RateLimitLock>>(() => {
  const board = newestBoard.value;
  const states = [...(board?.forges ?? []), ...(board?.furtherForges ?? [])];
  const exceeded = states.flatMap((one) =>
    toForgeQuotas(one)
      .filter(({ severity }) => severity === 'exceeded')
      .map(({ resetsAt }) => ({ forge: one.forge, credential: one.credential, until: Date.parse(resetsAt) })),
  );
  const active = [...reported.value.values(), ...exceeded].filter(({ until }) => until > now.value);
  // The last one of a key counts.
  return new Map(active.sort((one, other) => one.until - other.until).map((one) => [keyOf(one), one]));
});

/** Lists the credentials whose forges accept no requests now. */
export const listRateLimitLocks = (): readonly RateLimitLock[] => [...locks.value.values()];

/** Finds the lock of the credential that acts on a row or a repository; `undefined` while its forge accepts requests. */
export const findRateLimitLock = (place: Place): RateLimitLock | undefined => locks.value.get(keyOf(place));

/** The id of the element that explains why the actions of a credential are disabled. */
export const rateLimitNoticeId = (place: Place): string => `lock-${keyOf(place)}`;

/** Returns the API quotas of a forge. Their kind is named only if the forge has two. */
export function toForgeQuotas({ rateLimitGraphQL, rateLimitREST }: Forge) {
  const both = rateLimitGraphQL !== undefined && rateLimitREST !== undefined;
  return [
    ...(rateLimitGraphQL === undefined ? [] : [{ ...rateLimitGraphQL, kind: both ? 'GraphQL ' : '' }]),
    ...(rateLimitREST === undefined ? [] : [{ ...rateLimitREST, kind: both ? 'REST ' : '' }]),
  ];
}

/** Records the rate limit that an error response reports. Errors of this server's own limits have no `resetsAt`. */
export function recordRateLimit({ forge, credential }: Place, error: unknown): void {
  const { resetsAt } = (error instanceof ApiError ? (error.body ?? {}) : {}) as { readonly resetsAt?: unknown };
  if (typeof resetsAt !== 'string') return;
  now.value = serverNow();
  const lock = { forge, credential, until: Date.parse(resetsAt) };
  reported.value = new Map([...reported.value, [keyOf(lock), lock]]);
}

// The clock advances when the next lock ends; until then nothing has to be redrawn.
effect(() => {
  const next = Math.min(...listRateLimitLocks().map(({ until }) => until));
  if (next === Infinity) return;
  // Timers may fire slightly early.
  const timer = setTimeout(() => (now.value = Math.max(serverNow(), next)), next - serverNow());
  return () => clearTimeout(timer);
});

effect(() => {
  if (newestBoard.value !== undefined) now.value = serverNow();
});

/** Returns the name of a forge, with that of the further credential. */
export const nameCredential = ({ forge, credential }: Place): string =>
  credential === undefined ? FORGE_NAMES[forge] : `${FORGE_NAMES[forge]} (${credential.label})`;

export const describeRateLimit = (lock: RateLimitLock): string =>
  `${nameCredential(lock)}’s rate limit is exceeded. Requests resume at ${formatTime(lock.until)}.`;
