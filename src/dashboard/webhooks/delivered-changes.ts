import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Database } from '../../storage/database.js';
import type { ForgeName } from '../forges/forge.js';
import { recordFirstDelivery, type RepositoryAddress } from '../pull-requests/state-entries.js';
import type { Refresher } from '../refresh/refresher.js';
import type { DeliveredEvent } from './verify-delivery.js';

/**
 * Single changes are read soon. A pipeline that reports every step for an hour costs about 120
 * reads. The end of the last check is read within a second or two.
 */
const REPOSITORY_SPACING = { firstMs: 2_000, mostMs: 32_000, quietMs: 1_000 };

/** Reading a whole board takes dozens of requests. */
const BOARD_SPACING = { firstMs: 30_000, mostMs: 900_000, quietMs: 30_000 };

/** Webhooks of organizations report repositories that are not on the board too. Each causes one refresh in this time. */
const UNKNOWN_MS = 3_600_000;
const MAX_UNKNOWN = 10_000;

/** The syntax of repository names. Other names can't be on a board. */
const NAME = /^(?=.{3,255}$)[\w.-]+(?:\/[\w.-]+)+$/;

/** The time limit for pending reads when the server shuts down. */
const CLOSE_MS = 5_000;

export interface DeliveredChangesOptions {
  readonly database: Database;
  readonly refresher: Pick<Refresher, 'rebuildBoard' | 'refresh' | 'refreshRepository'>;
  /** Receives the errors of failed reads. */
  readonly report?: (error: unknown) => void;
  readonly now: () => number;
}

/** Updates boards in the background after webhook deliveries. */
interface DeliveredChanges {
  /** Schedules a read of the repository that the event names, or else of the whole board. */
  schedule(personId: string, forge: ForgeName, event: DeliveredEvent): void;
  /** Lists the reads that run, or wait until their delay ends. */
  list(): readonly DeliveredRead[];
  /** Runs pending reads at once, for at most five seconds. Later events are ignored. */
  close(): Promise<void>;
}

/** A read of a repository or of a whole board, after deliveries to this process. */
export interface DeliveredRead {
  readonly personId: string;
  readonly forge: ForgeName | undefined;
  /** The full name of the repository; `undefined` for the whole board. */
  readonly repository: string | undefined;
  /** `idle` means that the next delivery waits until the delay ends. */
  readonly state: ThrottleState;
  /** When the delay ends; `undefined` while the read runs. */
  readonly until: number | undefined;
}

export function createDeliveredChanges(options: DeliveredChangesOptions): DeliveredChanges {
  const { database, refresher, report = () => undefined, now } = options;
  const repositories = throttleWithBackoff({ ...REPOSITORY_SPACING, report, now });
  const boards = throttleWithBackoff({ ...BOARD_SPACING, report, now });
  const unknown = new LRUCache<string, true>({ max: MAX_UNKNOWN, ttl: UNKNOWN_MS });

  function scheduleBoard(personId: string): void {
    boards.request(personId, () => refresher.refresh(personId));
  }

  async function readRepository(address: RepositoryAddress, key: string): Promise<void> {
    const { personId, forge, fullName } = address;
    if (!(await isOnBoard(database, address))) {
      // The repository may be new or renamed; a refresh of the board then finds it.
      if (!unknown.has(key)) scheduleBoard(personId);
      unknown.set(key, true);
      return;
    }
    const isFirst = await recordFirstDelivery(database, address, now());
    await refresher.refreshRepository(personId, forge, fullName);
    // If the repository itself is unchanged, its refresh does not update the board.
    if (isFirst) await refresher.rebuildBoard(personId);
  }

  return {
    schedule(personId, forge, { fullName = '', isFinal = false }) {
      const key = `${personId} ${forge} ${fullName}`;
      if (NAME.test(fullName))
        repositories.request(key, () => readRepository({ personId, forge, fullName }, key), isFinal);
      else scheduleBoard(personId);
    },
    list: () => [
      ...repositories.list().map(({ key, ...run }) => {
        const [personId = '', forge, repository] = key.split(' ');
        // The key contains a name of the contract.
        return { personId, forge: forge as ForgeName, repository, ...run };
      }),
      ...boards.list().map(({ key, ...run }) => ({
        ...{ personId: key, forge: undefined, repository: undefined },
        ...run,
      })),
    ],
    async close() {
      const ended = repositories.close().then(() => boards.close());
      await Promise.race([ended, sleep(CLOSE_MS, undefined, { ref: false })]);
    },
  };
}

/** Returns whether the user's board lists a repository, as of its last refresh. */
async function isOnBoard(database: Database, { personId, forge, fullName }: RepositoryAddress): Promise<boolean> {
  const row = await database
    .selectFrom('forge_readings')
    .select('repository_id')
    .where('person_id', '=', personId)
    .where((is) =>
      is.or([
        is('forge', '=', forge),
        is(
          'forge',
          'in',
          is
            .selectFrom('forge_credentials')
            .select('id')
            .where('person_id', '=', personId)
            .where('forge_credentials.forge', '=', forge),
        ),
      ]),
    )
    .where('full_name', '=', fullName)
    .executeTakeFirst();
  return row !== undefined;
}

interface BackoffThrottleOptions {
  /** The delay between the end of a run and the next run of the same key, if that was requested in between. */
  readonly firstMs: number;
  /** After a final request, the run starts once so long no other one came. */
  readonly quietMs: number;
  /** The upper limit of the delay, which doubles with every run until a delay passes without a request. */
  readonly mostMs: number;
  /** Receives the errors of failed runs, which don't affect later ones. */
  readonly report: (error: unknown) => void;
  readonly now?: () => number;
}

type ThrottleState = 'idle' | 'running' | 'waiting';

interface ThrottledRun {
  readonly key: string;
  readonly state: ThrottleState;
  /** When the delay ends; `undefined` during a run. */
  readonly until: number | undefined;
}

interface BackoffThrottle {
  /**
   * Requests a run: at once if the key had no recent run, else after the delay, once for all requests until then. After
   * every request, a run starts, so that no change is missed.
   *
   * @param isFinal Whether the request may end a series: the run then starts after a short time without another final
   * request, if the first delay has passed too.
   */
  request(key: string, run: () => Promise<void>, isFinal?: boolean): void;
  /** Lists the keys with a run or a delay. */
  list(): readonly ThrottledRun[];
  /** Runs pending requests without delay, and waits for them. Later requests are ignored. */
  close(): Promise<void>;
}

/** Creates a throttle for frequently requested runs, with a separate, growing delay for each key. */
export function throttleWithBackoff({
  firstMs,
  mostMs,
  quietMs,
  report,
  now = Date.now,
}: BackoffThrottleOptions): BackoffThrottle {
  const pending = new Map<string, (() => Promise<void>) | undefined>();
  const ends = new Map<string, number>();
  const working = new Set<Promise<void>>();
  /** By key: ends the current delay early. */
  const hurry = new Map<string, () => void>();
  const closed = new AbortController();

  /** Waits for a delay, or less after a final request. The timers must not keep an otherwise idle process alive. */
  async function pause(key: string, delayMs: number): Promise<void> {
    const beganAt = performance.now();
    const over = new AbortController();
    let quiet: NodeJS.Timeout | undefined;
    hurry.set(key, () => {
      clearTimeout(quiet);
      const left = Math.max(beganAt + firstMs - performance.now(), quietMs);
      quiet = setTimeout(() => over.abort(), left).unref();
    });
    const signal = AbortSignal.any([closed.signal, over.signal]);
    await sleep(delayMs, undefined, { signal, ref: false }).catch(() => undefined);
    clearTimeout(quiet);
    hurry.delete(key);
  }

  async function work(key: string): Promise<void> {
    let delay = firstMs;
    for (let run = pending.get(key); run !== undefined; run = pending.get(key)) {
      pending.set(key, undefined);
      await run().catch(report);
      ends.set(key, now() + delay);
      await pause(key, delay);
      ends.delete(key);
      delay = Math.min(delay * 2, mostMs);
    }
    pending.delete(key);
  }

  return {
    request(key, run, isFinal = false) {
      if (closed.signal.aborted) return;
      const isWorking = pending.has(key);
      pending.set(key, run);
      if (isWorking && isFinal) hurry.get(key)?.();
      if (isWorking) return;
      const ended = work(key).finally(() => working.delete(ended));
      working.add(ended);
    },
    list: () =>
      [...pending].map(([key, next]) => {
        const until = ends.get(key);
        if (until === undefined) return { key, state: 'running', until };
        return { key, state: next === undefined ? 'idle' : 'waiting', until };
      }),
    async close() {
      closed.abort();
      await Promise.all(working);
    },
  };
}
