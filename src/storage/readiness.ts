import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@trellis/core/errors';
import type { Database } from './database.js';

/** A database that takes longer to respond counts as unavailable. */
const PING_TIMEOUT_MS = 2_000;

/** Probes often arrive together, so they share one query to the database. */
const REUSE_MS = 3_000;

export interface Readiness {
  /**
   * Returns the number of open sockets, timers and requests of the process, at least 1.
   *
   * @throws AppError `unavailable` unless {@link isReady}.
   */
  require(): Promise<{ readonly openResources: number }>;
  /**
   * Returns whether requests can be served: startup is complete, the database responds, and the server is not stopping.
   */
  isReady(): Promise<boolean>;
  /** Makes the server unready until the promise settles. */
  waitFor(start: Promise<unknown>): void;
  /** Makes the server unready for good, so that load balancers use other servers while this one drains. */
  stop(): void;
  /** Aborted by {@link stop}. */
  readonly stopping: AbortSignal;
}

export function createReadiness(database: Database, now: () => number = Date.now): Readiness {
  const stopping = new AbortController();
  // Every open event stream adds a listener.
  setMaxListeners(0, stopping.signal);
  let last: { readonly at: number; readonly isUp: Promise<boolean> } | undefined;
  let starting = 0;
  const isReady = async (): Promise<boolean> => {
    if (starting > 0) return false;
    if (last === undefined || now() - last.at >= REUSE_MS) last = { at: now(), isUp: ping(database) };
    const isUp = await last.isUp;
    return isUp && !stopping.signal.aborted;
  };
  return {
    isReady,
    async require() {
      if (!(await isReady()))
        throw new AppError('unavailable', 'The server is starting or stopping, or its database is unavailable.');
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
  const response = query.then(
    () => true,
    () => false,
  );
  const timeout = sleep(PING_TIMEOUT_MS, false, { signal: controller.signal }).catch(() => false);
  const isUp = await Promise.race([response, timeout]);
  controller.abort();
  return isUp;
}
