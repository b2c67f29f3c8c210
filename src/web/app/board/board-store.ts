import { batch, computed, signal } from '@preact/signals';
import { countIssues, countPullRequests, reuseRows } from './board-changes.js';
import { armed } from '../shell/armed.js';
import { keyOf } from './rows.js';
import type { Board, PullRequest } from './rows.js';

/** The username of the owner of the board on screen; empty for the signed-in user's own board. */
export const owner = signal('');

type Repository = Board['repos'][number];

/** The board on screen. Updates that change its lists wait in {@link newest} until the user asks for them. */
export const shown = signal<Board | undefined>(undefined);

/** The newest board that the server sent. */
export const newest = signal<Board | undefined>(undefined);

export const problem = signal<string | undefined>(undefined);

/** While true, updates are stored but neither shown nor counted. */
export const isPaused = signal(false);

/** The number of changed rows that wait behind the updates bar. */
export const waiting = computed(() => (isPaused.value ? 0 : countPullRequests(shown.value, newest.value)));

export const waitingIssues = computed(() => (isPaused.value ? 0 : countIssues(shown.value, newest.value)));

/** The expiry of rows that an action on this page removed: a board read before the action may still contain them. */
const removed = new Map<string, number>();

/** Equals the time for which the server hides such a row. */
const REMOVED_MS = 120_000;

export function showNewest(): void {
  shown.value = newest.value;
}

/** Switches to a different owner's board; an empty name selects the user's own. */
export function lookAt(username: string): void {
  owner.value = username;
  shown.value = undefined;
  newest.value = undefined;
}

/** Removes a row as soon as the server has confirmed its action. */
export function removeRow(row: PullRequest): void {
  removed.set(keyOf(row), Date.now() + REMOVED_MS);
  if (newest.value) newest.value = withoutRemoved(newest.value);
  whenStill(() => {
    if (shown.value) shown.value = withoutRemoved(shown.value);
  });
}

/** Applies a change once no button waits for a confirmation, so that the button does not move before it is pressed. */
function whenStill(change: () => void): void {
  if (armed.peek() === undefined) {
    change();
    return;
  }
  const stop = armed.subscribe((question) => {
    if (question !== undefined) return;
    stop();
    change();
  });
}

/** Shows a change that this page made to a row, without showing other waiting updates. */
export function changeRow(row: PullRequest, change: (one: PullRequest) => PullRequest): void {
  const inBoard = (board: Board): Board => ({
    ...board,
    pullRequests: board.pullRequests.map((one) => (keyOf(one) === keyOf(row) ? change(one) : one)),
  });
  if (shown.value) shown.value = inBoard(shown.value);
  if (newest.value) newest.value = inBoard(newest.value);
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
  if (shown.value) shown.value = inBoard(shown.value);
  if (newest.value) newest.value = inBoard(newest.value);
}

function withoutRemoved(board: Board): Board {
  for (const [key, until] of removed) if (until < Date.now()) removed.delete(key);
  return removed.size === 0
    ? board
    : { ...board, pullRequests: board.pullRequests.filter((row) => !removed.has(keyOf(row))) };
}

/**
 * Accepts a board from the server. Changed lists wait behind the updates bar, unless `isAsked`; the rest is shown at
 * once.
 */
export function receive(board: Board, isAsked: boolean): void {
  const next = reuseRows(newest.value, withoutRemoved(board));
  const isShown = isAsked || shown.value === undefined;
  // Computed values that depend on both signals are updated once.
  batch(() => {
    problem.value = undefined;
    newest.value = next;
    if (isShown) shown.value = next;
  });
  if (!isShown) whenStill(showUnchanged);
}

/**
 * Shows the parts of the newest board that move no row. An empty list has no rows to move, so its first rows appear.
 */
function showUnchanged(): void {
  const { value: next } = newest;
  const { value: now } = shown;
  if (now === undefined || next === undefined || isPaused.value) return;
  const keep = <Row>(isWaiting: boolean, before: readonly Row[], after: readonly Row[]): readonly Row[] =>
    isWaiting && before.length > 0 ? before : after;
  const pullRequests = keep(waiting.value > 0, now.pullRequests, next.pullRequests);
  shown.value = { ...next, pullRequests, issues: keep(waitingIssues.value > 0, now.issues, next.issues) };
}
