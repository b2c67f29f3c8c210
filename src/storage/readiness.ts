import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../errors.js';
import type { Database } from './database.js';

/** A database that needs longer is as good as away. */
const PING_BUDGET_MS = 2_000;

/** Probes come in crowds; the database is asked for the first of them. */
const REUSE_MS = 3_000;

export interface Readiness {
  /**
   * @returns how many sockets, timers and requests the process has open, at least 1.
   * @throws AppError `unavailable` when {@link isReady} is not so.
   */
  require(): Promise<{ readonly openResources: number }>;
  /** Whether requests can be served: the database answers and nobody called {@link stop}. */
  isReady(): Promise<boolean>;
  /** Until this has ended, the answer is no. */
  waitFor(start: Promise<unknown>): void;
  /** From now on the answer is no, so that balancers look elsewhere while we drain. */
  stop(): void;
  /** Aborted by {@link stop}. */
  readonly stopping: AbortSignal;
}

export function createReadiness(database: Database, now: () => number = Date.now): Readiness {
  const stopping = new AbortController();
  // Every open stream listens.
  setMaxListeners(0, stopping.signal);
  let last: { readonly at: number; readonly answer: Promise<boolean> } | undefined;
  let starting = 0;
  const isReady = async (): Promise<boolean> => {
    if (starting > 0) return false;
    if (last === undefined || now() - last.at >= REUSE_MS) last = { at: now(), answer: ping(database) };
    const isThere = await last.answer;
    return isThere && !stopping.signal.aborted;
  };
  return {
    isReady,
    async require() {
      if (!(await isReady()))
        throw new AppError('unavailable', 'The server is starting, stopping or without its database.');
      return { openResources: Math.max(1, process.getActiveResourcesInfo().length) };
    },
    waitFor(start) {
      starting += 1;
      const end = (): void => void (starting -= 1);
      void start.then(end, end);
    },
    stop: () => stopping.abort(),
    stopping: stopping.signal,
  };
}

async function ping(database: Database): Promise<boolean> {
  const controller = new AbortController();
  const query = database.selectFrom('people').select('id').limit(1).execute();
  const answer = query.then(
    () => true,
    () => false,
  );
  const budget = sleep(PING_BUDGET_MS, false, { signal: controller.signal }).catch(() => false);
  const isThere = await Promise.race([answer, budget]);
  controller.abort();
  return isThere;
}
