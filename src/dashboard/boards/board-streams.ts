import { runWithin } from '@trellis/core/concurrency';
import { type Caller, requireUser } from '../../accounts/callers.js';
import type { Database } from '../../storage/database.js';
import { assertSettingsSaved } from '../settings/settings-row.js';
import type { BoardVersion } from './board-changes.js';
import { type BoardChange, createSentBoards, outlineOf, type SentBoards, toBoardChange } from './board-differences.js';
import type { Board } from './board.js';
import type { BoardOptions, Boards } from './boards.js';
import { createStreamLimit } from './stream-limit.js';

export interface BoardStreamRequest extends Pick<BoardOptions, 'includeDrafts' | 'includeSnoozed'> {
  /** The event id of the newest board that the caller has received. */
  readonly lastEventId?: string;
  /** Ends the stream. */
  readonly signal: AbortSignal;
}

export interface BoardEvent {
  readonly id: string;
  readonly data: Board;
}

export interface BoardChangeEvent {
  readonly id: string;
  readonly data: BoardChange;
}

export interface BoardStreams {
  /**
   * Streams the caller's own board: at once, unless they have the current version already, and after every change.
   * Slow callers skip intermediate versions.
   *
   * The caller must iterate the stream or abort its signal, because it counts as open until it ends.
   *
   * @throws AppError `not_found` until the caller has saved forge settings, `rate_limited` if the caller has 16 open
   * streams.
   */
  open(caller: Caller | undefined, request: BoardStreamRequest): Promise<AsyncIterable<BoardEvent>>;
  /**
   * Streams the same boards as {@link open}, each as its difference from the board that the caller received before.
   *
   * @throws AppError like {@link open}.
   */
  openChanges(caller: Caller | undefined, request: BoardStreamRequest): Promise<AsyncIterable<BoardChangeEvent>>;
}

export interface BoardStreamsOptions {
  readonly database: Database;
  readonly boards: Boards;
  /** Whether other processes use the database, which share the limit of streams. */
  readonly hasOtherProcesses?: boolean;
  readonly now?: () => number;
}

export function createBoardStreams(options: BoardStreamsOptions): BoardStreams {
  const { database, boards, hasOtherProcesses = false, now = Date.now } = options;
  const limit = createStreamLimit(database, { isShared: hasOtherProcesses, now });
  const sent = createSentBoards();
  const open: BoardStreams['open'] = async (caller, request) => {
    const { signal } = request;
    const user = requireUser(caller);
    await assertSettingsSaved(database, user.personId);
    const release = await limit.enter(user.personId);
    if (signal.aborted) release();
    signal.addEventListener('abort', release, { once: true });
    return stream({ ...request, boards, caller: user, now }, release);
  };
  return {
    open,
    async openChanges(caller, request) {
      const { personId } = requireUser(caller);
      const [lastEventId] = request.lastEventId?.split(DIGEST_MARK) ?? [];
      const events = await open(caller, { ...request, lastEventId });
      return toChanges(events, { personId, sent, lastEventId: request.lastEventId });
    },
  };
}

/** Separates the id of a version from the digest of its contents, which also change with the time. */
const DIGEST_MARK = '~';

interface ChangesOptions extends Pick<BoardStreamRequest, 'lastEventId'> {
  readonly personId: string;
  readonly sent: SentBoards;
}

async function* toChanges(
  events: AsyncIterable<BoardEvent>,
  { personId, sent, lastEventId }: ChangesOptions,
): AsyncGenerator<BoardChangeEvent, void, undefined> {
  let earlier = lastEventId === undefined ? undefined : sent.find(personId, lastEventId);
  for await (const { id, data } of events) {
    const outline = outlineOf(data);
    const next = { id: `${id}${DIGEST_MARK}${outline.digest}`, outline };
    const change = toBoardChange(data, earlier);
    sent.add(personId, next);
    earlier = next;
    yield { id: next.id, data: change };
  }
}

interface StreamOptions extends BoardStreamRequest {
  readonly boards: Boards;
  readonly caller: ReturnType<typeof requireUser>;
  /** The clock by which versions end, which may differ from that of this machine. */
  readonly now: () => number;
}

async function* stream(options: StreamOptions, release: () => void): AsyncGenerator<BoardEvent, void, undefined> {
  const { boards, caller, includeDrafts, includeSnoozed, signal, now } = options;
  const shown = { includeDrafts, includeSnoozed };
  const subscription = boards.subscribe(caller.personId);
  let lastId = options.lastEventId;
  try {
    while (!signal.aborted) {
      const version = await boards.findVersion(caller.personId);
      if (version === undefined) return;
      const id = toId(version, shown);
      if (id !== lastId) {
        lastId = id;
        yield { id, data: await boards.read(caller, shown) };
      }
      if (version.endsAt === Infinity) await subscription.next(signal);
      else await waitAtMost(version.endsAt - now(), signal, (either) => subscription.next(either));
    }
  } finally {
    subscription.close();
    release();
  }
}

/** The options are part of the id, because they change the contents of the board. */
function toId({ id }: BoardVersion, { includeDrafts = false, includeSnoozed = false }: BoardOptions): string {
  return `${id}${includeDrafts ? '-drafts' : ''}${includeSnoozed ? '-snoozed' : ''}`;
}

/** Timers are limited to 24 days. An extra check every hour costs little. */
const LONGEST_WAIT_MS = 3_600_000;

/** Waits with a signal that aborts with `signal`, or when the time is over. */
function waitAtMost(
  milliseconds: number,
  signal: AbortSignal,
  wait: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  return runWithin(Math.min(Math.max(milliseconds, 0), LONGEST_WAIT_MS), signal, wait);
}
