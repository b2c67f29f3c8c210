import { effect } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { ApiError, readEvents } from '../../../generated/dashboard/client.js';
import { explain, requireAnswer } from '../answers.js';
import { dashboard } from '../clients.js';
import { user } from '../session.js';
import { owner, problem, receive, shown } from './board-store.js';
import type { Board } from './rows.js';

/** After a break, as of a server that is started again. */
const RETRY_MS = 5_000;

interface Look {
  readonly owner: string;
  readonly includeDrafts: boolean;
}

interface Following {
  readonly look: Look;
  readonly stop: () => void;
}

/** What is followed ahead of the page that will show it. */
let ahead: Following | undefined;

/** Asks for the board before anything is drawn: it is what a person waits for. @returns when there is something to show. */
export function beginBoard(includeDrafts: boolean): Promise<void> {
  ahead = startFollowing({ owner: owner.value, includeDrafts });
  return new Promise((resolve) => {
    const stop = effect(() => {
      if (shown.value === undefined && problem.value === undefined) return;
      queueMicrotask(() => stop());
      resolve();
    });
  });
}

/** Follows the board that is looked at while a component is shown: one's own as it changes, another's every now and then. */
export function useBoard(includeDrafts: boolean): void {
  const whose = owner.value;
  // Before the page is painted, as the first of what the page asks.
  useLayoutEffect(() => {
    const look = { owner: whose, includeDrafts };
    return (takeAhead(look) ?? startFollowing(look)).stop;
  }, [whose, includeDrafts]);
}

function startFollowing(look: Look): Following {
  const controller = new AbortController();
  void follow(look, controller.signal);
  return { look, stop: () => controller.abort() };
}

/** What was begun, if it is what the page shows. */
function takeAhead({ owner: whose, includeDrafts }: Look): Following | undefined {
  const begun = ahead;
  ahead = undefined;
  if (begun?.look.owner === whose && begun.look.includeDrafts === includeDrafts) return begun;
  begun?.stop();
  return undefined;
}

async function follow(look: Look, signal: AbortSignal): Promise<void> {
  // The person came to the page, or asked for another board: the first one is shown at once.
  let isAsked = true;
  while (!signal.aborted) {
    try {
      for await (const board of look.owner === '' ? ownBoards(look, signal) : boardsOf(look, signal)) {
        // Another board may be looked at by now.
        signal.throwIfAborted();
        receive(board, isAsked);
        isAsked = false;
      }
      return;
    } catch (error) {
      if (error === signal.reason || isOver(error)) return;
      problem.value = explain(error);
      await pause(RETRY_MS, signal);
    }
  }
}

/** Whether asking again would change nothing; whoever is not signed in any more is led to the page for that. */
function isOver(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.statusCode >= 429) return false;
  if (error.statusCode === 401) user.value = null;
  else problem.value = error.message;
  return true;
}

async function* ownBoards({ includeDrafts }: Look, signal: AbortSignal): AsyncGenerator<Board> {
  const query = { includeDrafts, includeSnoozed: true };
  const open = (init: Parameters<Parameters<typeof readEvents>[0]>[0]) =>
    dashboard.GET('/api/dashboard/stream', { ...init, params: { query } });
  try {
    for await (const { data } of readEvents<Board>(open, { signal })) yield data;
  } catch (error) {
    // Before forges are set up there is nothing to follow, and an empty board.
    if (!(error instanceof ApiError && error.statusCode === 404)) throw error;
    yield await readBoard({ owner: '', includeDrafts }, signal);
  }
}

async function* boardsOf(look: Look, signal: AbortSignal): AsyncGenerator<Board> {
  while (!signal.aborted) {
    const board = await readBoard(look, signal);
    yield board;
    await pause(board.readIntervalSeconds * 1000, signal);
  }
}

/** Reads the board now; what was set aside is always with it, for the page to list or not. */
async function readBoard({ owner: whose, includeDrafts }: Look, signal?: AbortSignal): Promise<Board> {
  const query = { includeDrafts, includeSnoozed: true, ...(whose === '' ? {} : { owner: whose }) };
  const options = signal === undefined ? {} : { signal };
  return requireAnswer(await dashboard.GET('/api/dashboard', { params: { query }, ...options }));
}

/** Has the forges read now, of one's own board, and shows what is new. */
export async function refreshBoard(includeDrafts: boolean): Promise<void> {
  const whose = owner.value;
  const query = { includeDrafts, includeSnoozed: true };
  const board =
    whose === ''
      ? requireAnswer(await dashboard.POST('/api/dashboard/refresh', { params: { query } }))
      : await readBoard({ owner: whose, includeDrafts });
  receive(board, true);
}

const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
