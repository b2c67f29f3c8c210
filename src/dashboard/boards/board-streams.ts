import { randomInt } from 'node:crypto';
import { runWithin } from '@trellis/core/concurrency';
import { rateLimitError } from '@trellis/core/errors';
import { type Caller, requireUser } from '../../accounts/callers.js';
import { type Database, inTransaction } from '../../storage/database.js';
import { assertSettingsSaved } from '../settings/settings-rows.js';
import type { BoardVersion } from './board-changes.js';
import { type BoardChange, createSentBoards, outlineOf, type SentBoards, toBoardChange } from './board-differences.js';
import type { Board } from './board.js';
import type { BoardOptions, Boards } from './boards.js';

interface BoardStreamRequest extends Pick<BoardOptions, 'includeDrafts' | 'includeSnoozed'> {
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

interface BoardStreamsOptions {
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

/** More than one user needs for their tabs and devices. Each stream occupies a connection. */
const MAX_STREAMS = 16;

/** The stream of a page that the user has closed ends before that. */
const RETRY_AFTER_SECONDS = 15;

/** How often a server extends the slots of its open streams. */
const EXTEND_MS = 15_000;

/** The slots of a server that was killed become free after this time. */
const LEASE_MS = 45_000;

/** Counts and limits the open streams of each user. */
interface StreamLimit {
  /**
   * Counts a stream as open until the returned function is called.
   *
   * @throws AppError `rate_limited` if the user has 16 open streams.
   */
  enter(personId: string): Promise<() => void>;
}

interface StreamLimitOptions {
  /** Whether several processes share the limit; otherwise this one counts in memory. */
  readonly isShared: boolean;
  readonly now: () => number;
}

const createStreamLimit = (database: Database, { isShared, now }: StreamLimitOptions): StreamLimit =>
  isShared ? createSharedLimit(database, now) : createLocalLimit();

function limitError(): Error {
  const message = `You have reached the limit of ${MAX_STREAMS} open streams. Close one first.`;
  const [windowSeconds, resetSeconds] = [RETRY_AFTER_SECONDS, RETRY_AFTER_SECONDS];
  return rateLimitError(message, { limit: MAX_STREAMS, windowSeconds, resetSeconds });
}

function createLocalLimit(): StreamLimit {
  const counts = new Map<string, Set<symbol>>();
  return {
    async enter(personId) {
      const own = counts.get(personId) ?? new Set();
      if (own.size >= MAX_STREAMS) throw limitError();
      const entry = Symbol(personId);
      counts.set(personId, own.add(entry));
      return () => {
        own.delete(entry);
        if (own.size === 0 && counts.get(personId) === own) counts.delete(personId);
      };
    },
  };
}

/** Each open stream holds one of the 16 slots of its user: a row with the number of its server, and an end. */
function createSharedLimit(database: Database, now: () => number): StreamLimit {
  const server = randomInt(2 ** 47);
  const held = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  const extend = async (): Promise<void> => {
    const ends_at = now() + LEASE_MS;
    await database
      .updateTable('rate_counts')
      .set({ ends_at })
      .where('key', 'in', [...held])
      .where('taken', '=', server)
      .execute();
  };
  /** A failure is made good by the next extension, or frees the slots. */
  const start = (): NodeJS.Timeout => setInterval(() => void extend().catch(() => undefined), EXTEND_MS).unref();

  const release = (key: string): void => {
    if (!held.delete(key)) return;
    if (held.size === 0) clearInterval(timer);
    const rows = database.deleteFrom('rate_counts').where('key', '=', key).where('taken', '=', server);
    // The slot becomes free later if the database is unavailable.
    void rows.execute().catch(() => undefined);
  };

  return {
    async enter(personId) {
      const key = await takeSlot(database, personId, { server, at: now() });
      if (held.size === 0) timer = start();
      held.add(key);
      return () => release(key);
    },
  };
}

async function takeSlot(
  database: Database,
  personId: string,
  { server, at }: { readonly server: number; readonly at: number },
): Promise<string> {
  const slots = Array.from({ length: MAX_STREAMS }, (_, slot) => `stream ${personId} ${slot}`);
  return inTransaction(database, async (transaction) => {
    const taken = transaction.selectFrom('rate_counts').select('key').where('key', 'in', slots);
    const open = new Set((await taken.where('ends_at', '>', at).execute()).map(({ key }) => key));
    const free = slots.filter((slot) => !open.has(slot));
    const key = free[randomInt(Math.max(free.length, 1))];
    if (key === undefined) throw limitError();
    const row = { taken: server, ends_at: at + LEASE_MS };
    await transaction
      .insertInto('rate_counts')
      .values({ key, ...row })
      .onConflict((conflict) => conflict.column('key').doUpdateSet(row))
      .execute();
    return key;
  });
}
