import { setTimeout as sleep } from 'node:timers/promises';

interface CleanupJobOptions {
  /** The functions that delete expired data. */
  readonly tasks: readonly (() => Promise<void>)[];
  /** The time from the end of one run to the start of the next. */
  readonly intervalMs: number;
  /** Reports the error of a function. The next run calls the function again. */
  readonly report: (error: unknown) => void;
}

export interface CleanupStatus {
  readonly isRunning: boolean;
  /** When the last run ended, in milliseconds; `undefined` during the first. */
  readonly endedAt: number | undefined;
  /** The functions of the last run that failed. */
  readonly failures: number;
}

export interface CleanupJob {
  readonly status: CleanupStatus;
  /** Starts the next run at once, unless one is in progress. */
  runNow(): void;
  /** Stops the job, and waits for the current run. */
  close(): Promise<void>;
}

/** Starts a job that runs at once and then periodically. It does not keep the process alive. */
export function startCleanupJob(options: CleanupJobOptions): CleanupJob {
  const closed = new AbortController();
  let status: CleanupStatus = { isRunning: true, endedAt: undefined, failures: 0 };
  let waking = new AbortController();

  async function runAll(): Promise<void> {
    let failures = 0;
    status = { ...status, isRunning: true };
    for (const task of options.tasks) {
      await task().catch((error: unknown) => {
        failures += 1;
        options.report(error);
      });
    }
    status = { isRunning: false, endedAt: Date.now(), failures };
  }

  async function run(): Promise<void> {
    while (!closed.signal.aborted) {
      await runAll();
      waking = new AbortController();
      const signal = AbortSignal.any([closed.signal, waking.signal]);
      await sleep(options.intervalMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  const ended = run();
  return {
    get status() {
      return status;
    },
    runNow: () => waking.abort(),
    async close() {
      closed.abort();
      await ended;
    },
  };
}
