import { setTimeout as sleep } from 'node:timers/promises';

export interface SweeperOptions {
  /** The functions that delete expired data. */
  readonly sweeps: readonly (() => Promise<void>)[];
  /** The time from the end of one run to the start of the next. */
  readonly everyMs: number;
  /** Reports the error of a function. The next run calls the function again. */
  readonly report: (error: unknown) => void;
}

export interface Sweeper {
  /** Stops the job, and waits for the current run. */
  close(): Promise<void>;
}

/** Starts a job that runs at once and then periodically. It does not keep the process alive. */
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
