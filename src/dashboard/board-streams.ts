import type { Caller } from '../accounts/callers.js';
import { requirePerson } from '../accounts/scopes.js';
import { rateLimited } from '../errors.js';
import type { Database } from '../storage/database.js';
import type { Board } from './board.js';
import type { BoardLook } from './board-answers.js';
import type { BoardVersion } from './board-state.js';
import type { Boards } from './boards.js';
import { requireSavedSettings } from './settings-row.js';

/** More than the tabs and devices of one person; each costs a connection. */
const MAX_STREAMS = 16;

/** Whoever closes a page has closed its stream by then. */
const RETRY_AFTER_SECONDS = 15;

export interface BoardStreamRequest extends Pick<BoardLook, 'includeDrafts' | 'includeSnoozed'> {
  /** The id of the board that the caller has already. */
  readonly lastEventId?: string | undefined;
  /** Ends the stream. */
  readonly signal: AbortSignal;
}

export interface BoardEvent {
  readonly id: string;
  readonly data: Board;
}

export interface BoardStreams {
  /**
   * Gives the caller's own board, unless they have it already, and again after
   * every change. Whoever is slow to take the next one gets the newest.
   *
   * It must be iterated or its signal aborted, for it counts as open until it ends.
   *
   * @throws AppError `not_found` while settings were never saved,
   * `rate_limited` when 16 streams of the person are open in this process.
   */
  open(caller: Caller | undefined, request: BoardStreamRequest): Promise<AsyncIterable<BoardEvent>>;
}

export interface BoardStreamsOptions {
  readonly database: Database;
  readonly boards: Boards;
}

export function createBoardStreams({ database, boards }: BoardStreamsOptions): BoardStreams {
  const open = createCounter();
  return {
    async open(caller, request) {
      const { signal } = request;
      const person = requirePerson(caller);
      await requireSavedSettings(database, person.personId);
      const leave = open.enter(person.personId);
      signal.addEventListener('abort', leave, { once: true });
      return follow({ ...request, boards, caller: person }, leave);
    },
  };
}

interface Following extends BoardStreamRequest {
  readonly boards: Boards;
  readonly caller: ReturnType<typeof requirePerson>;
}

async function* follow(following: Following, leave: () => void): AsyncGenerator<BoardEvent, void, undefined> {
  const { boards, caller, includeDrafts, includeSnoozed, signal } = following;
  const look = { includeDrafts, includeSnoozed };
  const follower = boards.follow(caller.personId);
  let seen = following.lastEventId;
  try {
    while (!signal.aborted) {
      const version = await boards.findVersion(caller.personId);
      if (version === undefined) return;
      const id = toId(version, look);
      if (id !== seen) {
        seen = id;
        yield { id, data: await boards.read(caller, look) };
      }
      await follower.next(until(version.endsAt, signal));
    }
  } finally {
    follower.close();
    leave();
  }
}

/** A board with drafts, or with what was set aside, is another one than without. */
function toId({ id }: BoardVersion, { includeDrafts = false, includeSnoozed = false }: BoardLook): string {
  return `${id}${includeDrafts ? '-drafts' : ''}${includeSnoozed ? '-snoozed' : ''}`;
}

/** Timers can't be set for longer than 24 days; to look in between costs little. */
const LONGEST_WAIT_MS = 3_600_000;

/** Aborts when the signal does, and when the version ends. */
function until(endsAt: number, signal: AbortSignal): AbortSignal {
  if (endsAt === Infinity) return signal;
  const milliseconds = Math.min(Math.max(endsAt - Date.now(), 0), LONGEST_WAIT_MS);
  return AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]);
}

/** Counts what is open for each person. */
function createCounter(): { enter(personId: string): () => void } {
  const counts = new Map<string, Set<symbol>>();
  return {
    enter(personId) {
      const own = counts.get(personId) ?? new Set();
      if (own.size >= MAX_STREAMS) {
        const message = `Expected at most ${MAX_STREAMS} open streams; close one first.`;
        const [windowSeconds, resetSeconds] = [RETRY_AFTER_SECONDS, RETRY_AFTER_SECONDS];
        throw rateLimited(message, { limit: MAX_STREAMS, windowSeconds, resetSeconds });
      }
      const entry = Symbol(personId);
      counts.set(personId, own.add(entry));
      return () => {
        own.delete(entry);
        if (own.size === 0 && counts.get(personId) === own) counts.delete(personId);
      };
    },
  };
}
