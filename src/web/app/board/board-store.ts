import { batch, computed, signal } from '@preact/signals';
import { countIssues, countPullRequests, reuseRows } from './board-changes.js';
import { armed } from '../shell/armed.js';
import { keyOf } from './rows.js';
import type { Board, PullRequest } from './rows.js';

/** Whose board is looked at; empty for one's own. */
export const owner = signal('');

type Repository = Board['repos'][number];

/** The board that is shown. It stands still until the person asks for what came since. */
export const shown = signal<Board | undefined>(undefined);

/** The newest board that the server told of. */
export const newest = signal<Board | undefined>(undefined);

export const problem = signal<string | undefined>(undefined);

/** While true, what comes is kept and not even counted. */
export const isPaused = signal(false);

/** How many rows are new, gone or other in what waits behind the bar. */
export const waiting = computed(() => (isPaused.value ? 0 : countPullRequests(shown.value, newest.value)));

export const waitingIssues = computed(() => (isPaused.value ? 0 : countIssues(shown.value, newest.value)));

/** Rows that an action of this page took away; a board from before the action may still have them. */
const removed = new Map<string, number>();

/** As long as the server itself holds such a row off. */
const REMOVED_MS = 120_000;

export function showNewest(): void {
  shown.value = newest.value;
}

/** Forgets the board of whoever was looked at before. */
export function lookAt(username: string): void {
  owner.value = username;
  shown.value = undefined;
  newest.value = undefined;
}

/** Takes a row off at once, when the server has said that it was done. */
export function removeRow(row: PullRequest): void {
  removed.set(keyOf(row), Date.now() + REMOVED_MS);
  if (newest.value) newest.value = withoutRemoved(newest.value);
  whenStill(() => {
    if (shown.value) shown.value = withoutRemoved(shown.value);
  });
}

/** Changes what is shown, but not while a button asks whether it was meant: it must not move from under a finger. */
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

/** Shows at once what this page has just changed of a row; the others stay where they are. */
export function changeRow(row: PullRequest, change: (one: PullRequest) => PullRequest): void {
  const inBoard = (board: Board): Board => ({
    ...board,
    pullRequests: board.pullRequests.map((one) => (keyOf(one) === keyOf(row) ? change(one) : one)),
  });
  if (shown.value) shown.value = inBoard(shown.value);
  if (newest.value) newest.value = inBoard(newest.value);
}

/** The same for a repository. */
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

/** Takes what the server told. Lists with changes wait for the person, unless they asked for it; all else is shown at once. */
export function receive(board: Board, isAsked: boolean): void {
  const next = reuseRows(newest.value, withoutRemoved(board));
  const isShown = isAsked || shown.value === undefined;
  // What depends on both is worked out once, of both.
  batch(() => {
    problem.value = undefined;
    newest.value = next;
    if (isShown) shown.value = next;
  });
  if (!isShown) whenStill(showUnchanged);
}

/** Brings what moves no row up to date. An empty list has none: the first rows of a new board come by themselves. */
function showUnchanged(): void {
  const { value: next } = newest;
  const { value: now } = shown;
  if (now === undefined || next === undefined || isPaused.value) return;
  const keep = <Row>(isWaiting: boolean, before: readonly Row[], after: readonly Row[]): readonly Row[] =>
    isWaiting && before.length > 0 ? before : after;
  const pullRequests = keep(waiting.value > 0, now.pullRequests, next.pullRequests);
  shown.value = { ...next, pullRequests, issues: keep(waitingIssues.value > 0, now.issues, next.issues) };
}
