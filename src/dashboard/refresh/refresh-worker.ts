import { setTimeout as sleep } from 'node:timers/promises';
import { runBoardRefresh } from './board-refresh.js';
import type { RefreshContext } from './board-refresh.js';
import type { BackgroundTasks } from './background-tasks.js';
import { canSkipRefresh } from './idle.js';
import { releaseLease, endLease, LeaseLostError, acquireLease, withLeaseRenewal } from './lease.js';
import type { Lease } from './lease.js';
import { findProgress, scheduleNow } from './schedule.js';

/** How often to check whether another process has finished a board. */
const POLL_MS = 200;

/** The delay before the next attempt after an internal error. */
const AFTER_FAILURE_MS = 60_000;

/** Refreshes boards. Only one process works on a board at a time. */
export interface RefreshWorker {
  /** Waits for a refresh of the whole board that starts after the call, in any process. */
  refreshAll(personId: string): Promise<void>;
  /** Refreshes the due parts of a board, unless another process does so. Reports errors instead of throwing. */
  refreshDue(personId: string): Promise<void>;
  /** Releases all leases, and waits for the work in progress. */
  close(): Promise<void>;
}

export interface RefreshWorkerOptions {
  readonly followUps: BackgroundTasks;
  readonly report: (error: unknown) => void;
}

export function createRefreshWorker(
  context: RefreshContext,
  { followUps, report }: RefreshWorkerOptions,
): RefreshWorker {
  const { database, now, signal, intervalMs, findSettings } = context;
  const inProgress = new Map<Lease, Promise<boolean>>();

  /** Returns false if the work was interrupted, or another process took over. */
  function work(lease: Lease, isWhole: boolean): Promise<boolean> {
    const done = run(lease, isWhole).finally(() => inProgress.delete(lease));
    inProgress.set(lease, done);
    return done;
  }

  async function run(lease: Lease, isWhole: boolean): Promise<boolean> {
    try {
      const round = await withLeaseRenewal(context, lease, () => runBoardRefresh(context, lease, isWhole));
      followUps.start(lease.personId, round.forges, round.rows);
      return true;
    } catch (error) {
      if (error instanceof LeaseLostError || signal.aborted) return false;
      const later = now() + AFTER_FAILURE_MS;
      const ending = { dueAt: isWhole ? later : lease.dueAt, lookAt: later, isDone: false };
      await endLease(database, lease, ending).catch(report);
      throw error;
    }
  }

  async function begin(personId: string): Promise<number | undefined> {
    const known = await findProgress(database, personId);
    if (known !== undefined) return known.begun;
    if ((await findSettings(personId)) === undefined) return undefined;
    await scheduleNow(database, personId, now());
    return 0;
  }

  return {
    async refreshAll(personId) {
      const begun = await begin(personId);
      while (begun !== undefined && !signal.aborted) {
        const lease = await acquireLease(database, personId, { at: now(), scope: { wholeSince: begun } });
        if (lease !== undefined && (await work(lease, true))) return;
        const progress = await findProgress(database, personId);
        if (progress === undefined || progress.done > begun) return;
        await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
      }
    },
    async refreshDue(personId) {
      try {
        const at = now();
        const lease = await acquireLease(database, personId, { at, scope: 'due' });
        if (lease === undefined) return;
        const isWhole = lease.dueAt <= at;
        if (isWhole && (await canSkipRefresh(database, personId, at))) {
          const next = at + intervalMs;
          await endLease(database, lease, { dueAt: next, lookAt: next, isDone: false });
        } else {
          await work(lease, isWhole);
        }
      } catch (error) {
        if (!signal.aborted) report(error);
      }
    },
    async close() {
      const leases = [...inProgress.keys()];
      await Promise.all(leases.map((lease) => releaseLease(database, lease).catch(() => undefined)));
      await Promise.allSettled(inProgress.values());
    },
  };
}
