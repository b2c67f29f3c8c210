import { computed, signal } from '@preact/signals';
import { ApiError, readEvents } from '../../../generated/dashboard/client.js';
import { explain, requireAnswer } from '../answers.js';
import { dashboard } from '../clients.js';
import { keyOf } from './rows.js';
import type { Board, PullRequest } from './rows.js';

/** The board that is shown. It stands still until the person asks for what came since. */
export const shown = signal<Board | undefined>(undefined);

/** The newest board that the server told of. */
export const newest = signal<Board | undefined>(undefined);

export const problem = signal<string | undefined>(undefined);

/** While true, changes are not even counted. */
export const isPaused = signal(false);

/** How many rows are new, gone or other in what waits behind the bar. */
export const waiting = computed(() => {
  if (isPaused.value || shown.value === newest.value) return 0;
  return countChanges(shown.value?.pullRequests ?? [], newest.value?.pullRequests ?? []);
});

/** Rows that an action of this page took away; a board from before the action may still have them. */
const removed = new Map<string, number>();

/** As long as the server itself holds such a row off. */
const REMOVED_MS = 120_000;

export function showNewest(): void {
  shown.value = newest.value;
}

/** Takes a row off at once, when the server has said that it was done. */
export function removeRow(row: PullRequest): void {
  removed.set(keyOf(row), Date.now() + REMOVED_MS);
  if (shown.value) shown.value = withoutRemoved(shown.value);
  if (newest.value) newest.value = withoutRemoved(newest.value);
}

function withoutRemoved(board: Board): Board {
  for (const [key, until] of removed) if (until < Date.now()) removed.delete(key);
  return removed.size === 0
    ? board
    : { ...board, pullRequests: board.pullRequests.filter((row) => !removed.has(keyOf(row))) };
}

/** Follows the board for as long as the page is open; a row that only changed takes its new state in place. */
export async function followBoard(includeDrafts: boolean, signal: AbortSignal): Promise<void> {
  try {
    await readOnce(includeDrafts, signal);
    const query = { includeDrafts };
    const boards = readEvents<Board>((init) => dashboard.GET('/api/dashboard/stream', { ...init, params: { query } }), {
      signal,
    });
    for await (const { data } of boards) receive(data);
  } catch (error) {
    // Before forges are set up there is nothing to follow, which is no problem.
    const isUnset = error instanceof ApiError && error.statusCode === 404;
    if (!signal.aborted && !isUnset) problem.value = explain(error);
  }
}

/** Also before settings were saved, when there is nothing to follow. */
async function readOnce(includeDrafts: boolean, signal: AbortSignal): Promise<void> {
  const query = { includeDrafts, includeSnoozed: true };
  receive(requireAnswer(await dashboard.GET('/api/dashboard', { params: { query }, signal })), { isAsked: true });
}

/** Reads the board now, and shows it: after the person did something. */
export async function reloadBoard(includeDrafts: boolean): Promise<void> {
  await readOnce(includeDrafts, new AbortController().signal);
}

function receive(board: Board, { isAsked = false } = {}): void {
  problem.value = undefined;
  newest.value = withoutRemoved(board);
  const isFirst = shown.value === undefined;
  if (isAsked || isFirst || waiting.value === 0) shown.value = newest.value;
}

function countChanges(before: readonly PullRequest[], after: readonly PullRequest[]): number {
  const known = new Map(before.map((row) => [keyOf(row), toState(row)]));
  let changes = 0;
  for (const row of after) {
    if (known.get(keyOf(row)) !== toState(row)) changes += 1;
    known.delete(keyOf(row));
  }
  return changes + known.size;
}

/** What a person would see of it. */
const toState = ({ updatedAt, ci, mergeStatus, title, section }: PullRequest): string =>
  [updatedAt, ci, mergeStatus, title, section].join('\n');
