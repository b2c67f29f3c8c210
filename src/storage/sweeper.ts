import { setTimeout as sleep } from 'node:timers/promises';

export interface SweeperOptions {
  /** Each takes out what has had its time. */
  readonly sweeps: readonly (() => Promise<void>)[];
  /** From the end of one round to the start of the next. */
  readonly everyMs: number;
  /** Is told when a sweep fails; the next round tries again. */
  readonly report: (error: unknown) => void;
}

export interface Sweeper {
  /** Waits for the round that is under way; there is no other. */
  close(): Promise<void>;
}

/** Sweeps at once and then again and again, without keeping the process alive. */
export function startSweeper(options: SweeperOptions): Sweeper {
  const closed = new AbortController();
  const ended = run(options, closed.signal);
  return {
    async close() {
      closed.abort();
      await ended;
    },
  };
}

async function run({ sweeps, everyMs, report }: SweeperOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const sweep of sweeps) await sweep().catch(report);
    await sleep(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
