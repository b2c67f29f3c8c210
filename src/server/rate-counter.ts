import { LRUCache } from 'lru-cache';

/** The count of a key in its current window. */
export interface RateCount {
  readonly taken: number;
  /** The time until the window ends. */
  readonly resetsInMs: number;
}

export interface RateCounter {
  /** Adds one and returns the new count. */
  take(key: string): RateCount;
  /** Raises the count to that of a shared counter, if that is higher. */
  raise(key: string, count: RateCount): RateCount;
  /** Returns the count without changing it. */
  find(key: string): RateCount | undefined;
}

export const WINDOW_MS = 60_000;

/**
 * About 20 MB. The least recently used key is evicted first. Counting addresses can't stop an attacker who has more
 * networks than this.
 */
const MAX_KEYS = 100_000;

/**
 * Creates a counter in the memory of this process. The window of a key starts with its first count and lasts a minute.
 *
 * @param now Returns the milliseconds of a monotonic clock.
 */
export function createRateCounter(now: () => number = () => performance.now()): RateCounter {
  const windows = new LRUCache<string, { taken: number; readonly endsAt: number }>({ max: MAX_KEYS });
  const findWindow = (key: string, at: number) => {
    const window = windows.get(key);
    return window !== undefined && window.endsAt > at ? window : undefined;
  };
  return {
    take(key) {
      const at = now();
      const window = findWindow(key, at) ?? { taken: 0, endsAt: at + WINDOW_MS };
      if (window.taken === 0) windows.set(key, window);
      window.taken += 1;
      return { taken: window.taken, resetsInMs: window.endsAt - at };
    },
    raise(key, count) {
      const at = now();
      const window = findWindow(key, at);
      if (window !== undefined && window.taken >= count.taken) return { ...window, resetsInMs: window.endsAt - at };
      windows.set(key, { taken: count.taken, endsAt: at + count.resetsInMs });
      return count;
    },
    find(key) {
      const at = now();
      const window = findWindow(key, at);
      return window && { taken: window.taken, resetsInMs: window.endsAt - at };
    },
  };
}
