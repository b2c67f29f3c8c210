import { setTimeout as sleep } from 'node:timers/promises';

interface CleanupJobOptions {
  /** The functions that delete expired data. */
  readonly tasks: readonly (() => Promise<void>)[];
  /** The time from the end of one run to the start of the next. */
  readonly intervalMs: number;
  /** Reports the error of a function. The next run calls the function again. */
  readonly report: (error: unknown) => void;
}

export interface CleanupJob {
  /** Stops the job, and waits for the current run. */
  close(): Promise<void>;
}

/** Starts a job that runs at once and then periodically. It does not keep the process alive. */
export function startCleanupJob(options: CleanupJobOptions): CleanupJob {
  const closed = new AbortController();
  const ended = run(options, closed.signal);
  return {
    async close() {
      closed.abort();
      await ended;
    },
  };
}

async function run({ tasks, intervalMs, report }: CleanupJobOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const sweep of tasks) await sweep().catch(report);
    await sleep(intervalMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
