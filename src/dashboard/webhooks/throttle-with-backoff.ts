import { setTimeout as sleep } from 'node:timers/promises';

interface BackoffThrottleOptions {
  /** The delay between the end of a run and the next run of the same key, if that was requested in between. */
  readonly firstMs: number;
  /** The upper limit of the delay, which doubles with every run until a delay passes without a request. */
  readonly mostMs: number;
  /** Receives the errors of failed runs, which don't affect later ones. */
  readonly report: (error: unknown) => void;
}

interface BackoffThrottle {
  /**
   * Requests a run: at once if the key had no recent run, else after the delay, once for all requests until then. After
   * every request, a run starts, so that no change is missed.
   */
  request(key: string, run: () => Promise<void>): void;
  /** Runs pending requests without delay, and waits for them. Later requests are ignored. */
  close(): Promise<void>;
}

/** Creates a throttle for frequently requested runs, with a separate, growing delay for each key. */
export function throttleWithBackoff({ firstMs, mostMs, report }: BackoffThrottleOptions): BackoffThrottle {
  const pending = new Map<string, (() => Promise<void>) | undefined>();
  const working = new Set<Promise<void>>();
  const closed = new AbortController();

  async function work(key: string): Promise<void> {
    let delay = firstMs;
    for (let run = pending.get(key); run !== undefined; run = pending.get(key)) {
      pending.set(key, undefined);
      await run().catch(report);
      // The timer must not keep an otherwise idle process alive.
      await sleep(delay, undefined, { signal: closed.signal, ref: false }).catch(() => undefined);
      delay = Math.min(delay * 2, mostMs);
    }
    pending.delete(key);
  }

  return {
    request(key, run) {
      if (closed.signal.aborted) return;
      const isWorking = pending.has(key);
      pending.set(key, run);
      if (isWorking) return;
      const ended = work(key).finally(() => working.delete(ended));
      working.add(ended);
    },
    async close() {
      closed.abort();
      await Promise.all(working);
    },
  };
}
