/** How processes learn that a board changed: by notification, and by versions, without reading the board. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../storage/database.js';
import { prepare } from '../../storage/prepared.js';

/** Notifies subscribers that a board changed. */
export interface BoardChanges {
  /** Notifies the subscribers of this process, and those of others if there are notices. */
  notify(personId: string): void;
  /** Subscribes to a board: no change after this call is missed. The caller must `close()` the subscription. */
  subscribe(personId: string): BoardSubscription;
}

export interface BoardSubscription {
  /**
   * Waits for a change since the last call, or since the subscription began. Several changes count as one. Resolves
   * without a change when the signal aborts.
   */
  next(signal: AbortSignal): Promise<void>;
  close(): void;
}

/** Polling for changes that other processes make. */
interface ChangePolling {
  /** Returns version identifiers by user. Deleted users are missing. */
  readonly readVersions: (personIds: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  /** Returns the time to the next poll. */
  readonly everyMs: () => number;
}

/** Messages between processes. */
export interface ChangeNotices {
  send(name: string): void;
  onReceived(listener: (name: string) => void): void;
}

/** Polls all boards that have subscribers in this process together, as long as there are any. */
export function createBoardChanges(watch?: ChangePolling, notices?: ChangeNotices): BoardChanges {
  const listeners = new Map<string, Set<() => void>>();
  const notify = (personId: string): void => {
    for (const listener of listeners.get(personId) ?? []) listener();
  };
  let isPolling = false;

  async function poll({ readVersions, everyMs }: ChangePolling): Promise<void> {
    let known: ReadonlyMap<string, string> = new Map();
    while (listeners.size > 0) {
      await sleep(everyMs(), undefined, { ref: false });
      const subscribed = [...listeners.keys()];
      // A failed database read counts as no change; the next poll tries again.
      const versions = await readVersions(subscribed).catch(() => known);
      // This also notifies new subscribers, who may have read an older board than this poll.
      for (const personId of subscribed) if (known.get(personId) !== versions.get(personId)) notify(personId);
      known = versions;
    }
    isPolling = false;
  }

  notices?.onReceived(notify);

  return {
    notify(personId) {
      notify(personId);
      notices?.send(personId);
    },
    subscribe(personId) {
      const own = listeners.get(personId) ?? new Set();
      listeners.set(personId, own);
      const subscription = createSubscription((listener) => {
        own.delete(listener);
        if (own.size === 0 && listeners.get(personId) === own) listeners.delete(personId);
      });
      own.add(subscription.listener);
      if (watch !== undefined && !isPolling) {
        isPolling = true;
        void poll(watch);
      }
      return subscription;
    },
  };
}

function createSubscription(
  unsubscribe: (listener: () => void) => void,
): BoardSubscription & { readonly listener: () => void } {
  let isPending = false;
  let wake: (() => void) | undefined;
  const listener = (): void => {
    isPending = true;
    wake?.();
  };
  return {
    listener,
    async next(signal) {
      if (!isPending) await wakeUp((done) => (wake = done), signal);
      isPending = false;
      wake = undefined;
    },
    close: () => unsubscribe(listener),
  };
}

async function wakeUp(listen: (wake: () => void) => void, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      signal.removeEventListener('abort', done);
      resolve();
    };
    signal.addEventListener('abort', done);
    listen(done);
  });
}

/** The parts of the version of a board. */
export interface BoardState {
  /** The time of the last refresh, `null` before the first one. It is unique among the boards of one user. */
  readonly generated_at: number | null;
  /** The creation time of the account, which replaces `generated_at` before the first refresh. */
  readonly created_at: number;
  /** Incremented when the owner's state (visits, snoozes) changes; `null` before the first such change. */
  readonly revision: number | null;
}

export interface BoardVersion {
  /** Changes whenever the board changes for its owner. Has no spaces, and fewer than 40 characters. */
  readonly id: string;
  /** When the version changes without any action, because a snooze ends; in milliseconds, infinity for never. */
  readonly endsAt: number;
}

/** Returns `undefined` if the user does not exist. */
export async function findBoardState(database: Database, personId: string): Promise<BoardState | undefined> {
  const [state] = await findPreparedState(database, { personId });
  return state;
}

/** Returns `undefined` if the user does not exist. */
export async function findBoardVersion(
  database: Database,
  personId: string,
  at: number,
): Promise<BoardVersion | undefined> {
  const [row] = await findPreparedVersion(database, { personId, at });
  return row && toVersion(row);
}

/** Below the limit of bound values per statement of both SQLite and PostgreSQL. */
const USERS_PER_STATEMENT = 1_000;

/** Returns version identifiers by user. Deleted users are missing. */
export async function readBoardVersions(
  database: Database,
  personIds: readonly string[],
  at: number,
): Promise<ReadonlyMap<string, string>> {
  const versions = new Map<string, string>();
  for (let start = 0; start < personIds.length; start += USERS_PER_STATEMENT) {
    const batch = personIds.slice(start, start + USERS_PER_STATEMENT);
    const rows = await selectVersions(database, at).where('people.id', 'in', batch).execute();
    for (const row of rows) versions.set(row.id, toVersion(row).id);
  }
  return versions;
}

/** Selects board states, without the boards themselves. */
export function selectBoardStates(database: Database) {
  return database
    .selectFrom('people')
    .leftJoin('boards', 'boards.person_id', 'people.id')
    .leftJoin('board_readers', 'board_readers.person_id', 'people.id')
    .select(['people.id', 'generated_at', 'people.created_at', 'revision']);
}

function selectVersions(database: Database, at: number) {
  return selectBoardStates(database).select((query) => {
    const own = query.selectFrom('snoozes').whereRef('snoozes.person_id', '=', 'people.id');
    return [
      own
        .where('until', '<=', at)
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .as('ended'),
      own
        .where('until', '>', at)
        .select(({ fn }) => fn.min<number | null>('until').as('first'))
        .as('next_end'),
    ];
  });
}

const findPreparedState = prepare((database, { personId }: { readonly personId: string }) =>
  selectBoardStates(database).where('people.id', '=', personId),
);

const findPreparedVersion = prepare((database, { personId, at }: { readonly personId: string; readonly at: number }) =>
  selectVersions(database, at).where('people.id', '=', personId),
);

interface VersionRow extends BoardState {
  /** The number of snoozes that have ended but are not deleted yet. It only grows while the other values are equal. */
  readonly ended: number | null;
  readonly next_end: number | null;
}

function toVersion({ generated_at, created_at, revision, ended, next_end }: VersionRow): BoardVersion {
  const parts = [generated_at ?? created_at, revision ?? 0, ended ?? 0];
  return { id: parts.map((part) => part.toString(36)).join('.'), endsAt: next_end ?? Infinity };
}
