import { batch, computed, signal } from '@preact/signals';
import type { FirstRows } from '../../../../dashboard/boards/first-rows.js';
import type { Problem } from '../../api.js';
import { pendingConfirmation } from '../../ui/confirmation.js';
import {
  type Board,
  countIssues,
  countPullRequests,
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
