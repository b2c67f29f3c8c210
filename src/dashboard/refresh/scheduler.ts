import { setTimeout as sleep } from 'node:timers/promises';
import { limitConcurrency } from '../../core/concurrency.js';
import type { Database } from '../../storage/database.js';
import { listDueUsers, scheduleAllBoards } from './schedule.js';

/** How often the schedule is polled, for boards that another process has scheduled, or that a dead one has left. */
const POLL_MS = 1_000;

/** Boards that are refreshed concurrently, each with a few requests to each forge. */
const MAX_CONCURRENT = 4;

/** More than can be refreshed in a second. */
const MAX_DUE = 100;

/** The longest delay of a server's start. Boards that are not ready by then show their previous version. */
const START_TIMEOUT_MS = 30_000;

export interface SchedulerOptions {
  readonly database: Database;
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Refreshes the due parts of a board, unless another process does so. Must not throw. */
  readonly work: (personId: string) => Promise<void>;
  readonly report: (error: unknown) => void;
}

export interface Scheduler {
  /** Starts polling. Resolves when all boards that are already due have been refreshed, or after 30 seconds. */
  start(): Promise<void>;
  /** Polls the schedule now. */
  wake(): void;
  /** Waits until polling has stopped. */
  readonly whenStopped: () => Promise<void>;
}

export function createScheduler({ database, now, signal, work, report }: SchedulerOptions): Scheduler {
  const run = limitConcurrency(MAX_CONCURRENT);
  const inProgress = new Map<string, Promise<void>>();
  let waking = new AbortController();
  let loop: Promise<void> | undefined;

  function begin(personId: string): Promise<void> {
    const started = run(async () => (signal.aborted ? undefined : work(personId)));
    const one = started.finally(() => inProgress.delete(personId));
    inProgress.set(personId, one);
    return one;
  }

  async function runDue(): Promise<void> {
    if (signal.aborted) return;
    const due = await listDueUsers(database, now(), MAX_DUE);
    await Promise.all(due.filter((personId) => !inProgress.has(personId)).map(begin));
  }

  async function poll(): Promise<void> {
    while (!signal.aborted) {
      waking = new AbortController();
      await sleep(POLL_MS, undefined, { signal: AbortSignal.any([signal, waking.signal]), ref: false }).catch(
        () => undefined,
      );
      void runDue().catch(report);
    }
  }

  return {
    async start() {
      await scheduleAllBoards(database, now()).catch(report);
      const first = runDue().catch(report);
      loop = poll();
      await Promise.race([first, sleep(START_TIMEOUT_MS, undefined, { signal, ref: false }).catch(() => undefined)]);
    },
    wake: () => waking.abort(),
    whenStopped: async () => loop,
  };
}
