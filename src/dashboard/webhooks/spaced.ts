import { setTimeout as sleep } from 'node:timers/promises';

export interface SpacedOptions {
  /** From the end of a run to the next of the same key, when it was asked for in between. */
  readonly firstMs: number;
  /** The distance doubles from run to run, up to this, until nobody asks. */
  readonly mostMs: number;
  /** Is told when a run fails; the next one is none the worse for it. */
  readonly report: (error: unknown) => void;
}

export interface Spaced {
  /**
   * Runs at once where nothing of the key ran lately, or else when the distance
   * is over, once for all who asked until then. Every run that is asked for is
   * followed by one that starts later, so that nothing is missed.
   */
  ask(key: string, run: () => Promise<void>): void;
  /** Keeps no distance any more, and waits for what was asked for. What is asked for now is left. */
  close(): Promise<void>;
}

/** Runs what many ask for again and again, but seldom. */
export function spaced({ firstMs, mostMs, report }: SpacedOptions): Spaced {
  const pending = new Map<string, (() => Promise<void>) | undefined>();
  const working = new Set<Promise<void>>();
  const closed = new AbortController();

  async function work(key: string): Promise<void> {
    let distance = firstMs;
    for (let run = pending.get(key); run !== undefined; run = pending.get(key)) {
      pending.set(key, undefined);
      await run().catch(report);
      // A process that has nothing else to do may end.
      await sleep(distance, undefined, { signal: closed.signal, ref: false }).catch(() => undefined);
      distance = Math.min(distance * 2, mostMs);
    }
    pending.delete(key);
  }

  return {
    ask(key, run) {
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
