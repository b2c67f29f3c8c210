import { LRUCache } from 'lru-cache';

/** What was taken under a key since its window began. */
export interface Count {
  readonly taken: number;
  /** Until the window ends. */
  readonly resetsInMs: number;
}

export interface RateCounter {
  take(key: string): Count;
  /** Counts as much as others know of, if that is more. */
  raise(key: string, count: Count): Count;
  /** Gives what was taken, and takes nothing. */
  find(key: string): Count | undefined;
}

export const WINDOW_MS = 60_000;

/**
 * Some 20 MB when full. The key unused for longest is forgotten first: whoever has this many networks to ask from within
 * a minute is not held off by counting addresses.
 */
const MAX_KEYS = 100_000;

/**
 * Counts in the memory of this process. The window of a key begins with what is taken first and lasts a minute.
 *
 * @param now Milliseconds of a clock that is never set back.
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
