import { setTimeout as sleep } from 'node:timers/promises';
import { singleFlight } from '@trellis/core/concurrency';
import { LRUCache } from 'lru-cache';

/** The count of a key in its current window. */
export interface RateCount {
  readonly taken: number;
  /** The time until the window ends. */
  readonly resetsInMs: number;
}

/** A counter that several servers, or the processes of one, share. */
export interface SharedCounter {
  /** Whether only the processes of one server share it, which exchange most of their counts faster. */
  readonly isLocal?: boolean;
  /** Adds an amount, 1 by default, to the count of a key. Returns the new count. */
  take(key: string, amount?: number): Promise<RateCount>;
}

/** Each server reserves this part of a limit at once, so it asks at most about once a second for each key. */
const PARTS = 60;

/** A counter that does not respond must not delay requests for longer. */
const WAIT_MS = 1_000;

/** How long requests are counted locally after a failure of the shared counter. */
const LOCAL_MS = 5_000;

const MAX_KEYS = 100_000;

interface SharedBudgetOptions {
  readonly shared: SharedCounter;
  readonly limit: number;
  /** Counts while the shared counter is unavailable. */
  readonly countLocally: (key: string) => RateCount;
  readonly now: () => number;
}

/** The requests of a window that this server may admit: those after `taken` up to `end`. */
interface Share {
  taken: number;
  readonly end: number;
  readonly endsAt: number;
}

/**
 * Creates a function that counts one request of a key, together with all servers. A server reserves several requests at
 * a time. Together, the servers never admit more than the limit; they admit fewer by the requests that were reserved at
 * one server and not sent to it, less than a sixtieth of the limit for each server.
 */
export function createSharedBudget(options: SharedBudgetOptions): (key: string) => Promise<RateCount> {
  const { shared, limit, countLocally, now } = options;
  const size = Math.max(1, Math.floor(limit / PARTS));
  const shares = new LRUCache<string, Share>({ maxSize: MAX_KEYS, sizeCalculation: () => 1 });
  const reservations = singleFlight<Share>();
  let sharedFrom = -Infinity;

  const reserve = (key: string): Promise<Share> =>
    reservations(key, async () => {
      const { taken, resetsInMs } = await shared.take(key, size);
      const share = { taken: taken - size, end: taken, endsAt: now() + resetsInMs };
      shares.set(key, share);
      return share;
    });

  /** Counts against the share of this server. Above the limit, no server has anything left to reserve. */
  const countShare = (key: string): RateCount | undefined => {
    const share = shares.get(key);
    if (share === undefined || share.endsAt <= now()) return undefined;
    if (share.taken >= share.end && share.taken < limit) return undefined;
    share.taken += 1;
    return { taken: share.taken, resetsInMs: share.endsAt - now() };
  };

  return async (key) => {
    for (;;) {
      const count = countShare(key);
      if (count !== undefined) return count;
      if (now() < sharedFrom) return countLocally(key);
      try {
        await inTime(reserve(key));
      } catch {
        sharedFrom = now() + LOCAL_MS;
      }
    }
  };
}

/** @throws Error if the work takes too long. */
async function inTime(work: Promise<unknown>): Promise<void> {
  const timer = new AbortController();
  const tooLate = async (): Promise<void> => {
    await sleep(WAIT_MS, undefined, { signal: timer.signal, ref: false });
    throw new Error('The shared counter did not respond in time.');
  };
  try {
    await Promise.race([work, tooLate()]);
  } finally {
    timer.abort();
  }
}
