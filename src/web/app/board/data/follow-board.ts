import { effect } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { readBoards } from '../../../../board-stream/read-boards.js';
import type { FirstRows } from '../../../../dashboard/boards/first-rows.js';
import { ApiError } from '../../../../generated/dashboard/client.js';
import { dashboardClient, keepProblem, requireData, toProblem, waitToRetry } from '../../api.js';
import { user } from '../../session.js';
import { showError } from '../../ui/toasts.js';
import { applyBoard, boardError, boardOwner, firstRows, selectBoard, shownBoard } from './board-store.js';
import type { Board } from './rows.js';

/** How long a stream may be silent before the board is read without it. Servers send the first board at once. */
const SILENT_MS = 10_000;

interface BoardQuery {
  readonly owner: string;
  readonly includeDrafts: boolean;
}

interface Subscription {
  readonly query: BoardQuery;
  readonly stop: () => void;
}

/** A subscription that was started before its page was drawn. */
let preloaded: Subscription | undefined;

/**
 * Starts loading the board before the page is drawn. Resolves when there is a board or an error to show.
 *
 * @param first The first rows that the document contains, which are shown until then.
 */
export function preloadBoard(includeDrafts: boolean, first?: FirstRows): Promise<void> {
  firstRows.value = first;
  preloaded = subscribe({ owner: boardOwner.value, includeDrafts });
  if (first !== undefined) return Promise.resolve();
  return new Promise((resolve) => {
    const stop = effect(() => {
      if (shownBoard.value === undefined && boardError.value === undefined) return;
      queueMicrotask(() => stop());
      resolve();
    });
  });
}

/** The board that the page follows. */
let followed: BoardQuery | undefined;

/** Follows the selected board while a component is shown: the user's own board as a stream, others by polling. */
export function useBoard(includeDrafts: boolean): void {
  const whose = boardOwner.value;
  // A layout effect runs before the first paint, so that the board is requested first.
  useLayoutEffect(() => {
    const query = { owner: whose, includeDrafts };
    followed = query;
    let subscription = consumePreloadedBoard(query) ?? subscribe(query);
    // An open stream would keep the page out of the browser's back/forward cache.
    const onHide = (): void => subscription.stop();
    const onShow = ({ persisted }: PageTransitionEvent): void => {
      if (persisted) subscription = subscribe(query);
    };
    addEventListener('pagehide', onHide);
    addEventListener('pageshow', onShow);
    return () => {
      removeEventListener('pagehide', onHide);
      removeEventListener('pageshow', onShow);
      subscription.stop();
    };
  }, [whose, includeDrafts]);
}

function subscribe(query: BoardQuery): Subscription {
  const controller = new AbortController();
  void follow(query, controller.signal);
  return { query, stop: () => controller.abort() };
}

/** Returns the preloaded subscription if it is for this query, else stops it. */
function consumePreloadedBoard({ owner: whose, includeDrafts }: BoardQuery): Subscription | undefined {
  const found = preloaded;
  preloaded = undefined;
  if (found?.query.owner === whose && found.query.includeDrafts === includeDrafts) return found;
  found?.stop();
  return undefined;
}

async function follow(query: BoardQuery, signal: AbortSignal): Promise<void> {
  // The user opened the page or selected this board, so the first board is shown at once.
  let isAsked = true;
  const apply = (board: Board): void => {
    // The user may have selected another board in the meantime.
    signal.throwIfAborted();
    applyBoard(board, isAsked);
    isAsked = false;
  };
  const silence = new AbortController();
  const end = (): void => silence.abort();
  signal.addEventListener('abort', end);
  if (query.owner === '') void pollWhileSilent(query, silence.signal, apply);
  let failures = 0;
  while (!signal.aborted) {
    try {
      for await (const board of query.owner === '' ? streamOwnBoard(query, signal) : pollBoard(query, signal)) {
        failures = 0;
        end();
        apply(board);
      }
      return;
    } catch (error) {
      if (error === signal.reason) return;
      if (error instanceof ApiError && error.statusCode === 401) {
        end();
        // Leads to the sign-in page.
        user.value = null;
        return;
      }
      if (boardOwner.peek() === query.owner && isUnshared(error, query)) {
        end();
        showError(error, query.owner);
        selectBoard('');
        return;
      }
      const problem = toProblem(error);
      // Until the stream arrives, the board is read without it.
      const isPolled = isTimeout(error) && query.owner === '' && !silence.signal.aborted;
      if (shownBoard.peek() === undefined || !isPolled) boardError.value = keepProblem(boardError.peek(), problem);
      if (!problem.canRetry) {
        end();
        return;
      }
      failures += 1;
      // Also in the background, as the title of the page counts pull requests.
      await waitToRetry(failures, signal, true);
    }
  }
}

/** Returns whether a board is no longer shared with the user: its owner has ended the sharing, or was removed. */
const isUnshared = (error: unknown, { owner }: BoardQuery): boolean =>
  owner !== '' && error instanceof ApiError && (error.statusCode === 403 || error.statusCode === 404);

const isTimeout = (error: unknown): boolean => error instanceof DOMException && error.name === 'TimeoutError';

/** Reads the board until its stream delivers one: some proxies pass on only complete responses. */
async function pollWhileSilent(query: BoardQuery, signal: AbortSignal, apply: (board: Board) => void): Promise<void> {
  await pause(SILENT_MS, signal);
  let failures = 0;
  while (!signal.aborted) {
    try {
      for await (const board of pollBoard(query, signal)) {
        signal.throwIfAborted();
        failures = 0;
        apply(board);
      }
    } catch (error) {
      // The stream reports the other errors.
      if (isTimeout(error)) boardError.value = toProblem(error);
      failures += 1;
      await waitToRetry(failures, signal, true);
    }
  }
}

async function* streamOwnBoard({ includeDrafts }: BoardQuery, signal: AbortSignal): AsyncGenerator<Board> {
  const query = { includeDrafts, includeSnoozed: true };
  for (let isPolled = false; ; isPolled = true) {
    try {
      for await (const { data } of readBoards(dashboardClient, query, { signal })) yield data;
      return;
    } catch (error) {
      if (isPolled || !(error instanceof ApiError && error.statusCode === 404)) throw error;
    }
    // Until a forge is set up, such as in a different tab, there is no stream, only an empty board.
    for await (const board of pollBoard({ owner: '', includeDrafts }, signal)) {
      yield board;
      if (board.forges.length > 0) break;
    }
    if (signal.aborted) return;
  }
}

async function* pollBoard(query: BoardQuery, signal: AbortSignal): AsyncGenerator<Board> {
  while (!signal.aborted) {
    const board = await readBoard(query, signal);
    yield board;
    await pause(board.readIntervalSeconds * 1000, signal);
  }
}

/** Reads the board once. Snoozed pull requests are always included; the page filters them. */
async function readBoard({ owner: whose, includeDrafts }: BoardQuery, signal?: AbortSignal): Promise<Board> {
  const query = { includeDrafts, includeSnoozed: true, ...(whose === '' ? {} : { owner: whose }) };
  const options = signal === undefined ? {} : { signal };
  return requireData(await dashboardClient.GET('/api/dashboard', { params: { query }, ...options }));
}

/**
 * Refreshes the user's own board, or reads a shared one again, and shows the result at once, unless the page follows a different
 * board by then.
 */
export async function refreshBoard(): Promise<void> {
  const asked = followed;
  if (asked === undefined) return;
  try {
    const board = await (asked.owner === '' ? refreshOwnBoard(asked) : readBoard(asked));
    if (asked === followed) applyBoard(board, true);
  } catch (error) {
    if (asked === followed && isUnshared(error, asked)) selectBoard('');
    throw error;
  }
}

async function refreshOwnBoard({ includeDrafts }: BoardQuery): Promise<Board> {
  const query = { includeDrafts, includeSnoozed: true };
  return requireData(await dashboardClient.POST('/api/dashboard/refresh', { params: { query } }));
}

const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
