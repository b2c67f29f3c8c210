import { setTimeout as sleep } from 'node:timers/promises';
import { runBoardRound } from './board-round.js';
import type { RoundContext } from './board-round.js';
import type { FollowUps } from './follow-ups.js';
import { mayWait } from './idle.js';
import { dropLease, endLease, LeaseLost, takeLease, whileRenewed } from './lease.js';
import type { Lease } from './lease.js';
import { findProgress, scheduleNow } from './schedule.js';

/** How often to check whether another process has finished a board. */
const POLL_MS = 200;

/** The delay before the next attempt after an internal error. */
const AFTER_FAILURE_MS = 60_000;

/** Refreshes boards. Only one process works on a board at a time. */
export interface BoardWork {
  /** Waits for a refresh of the whole board that starts after the call, in any process. */
  doWhole(personId: string): Promise<void>;
  /** Refreshes the due parts of a board, unless another process does so. Reports errors instead of throwing. */
  doDue(personId: string): Promise<void>;
  /** Releases all leases, and waits for the work in progress. */
  close(): Promise<void>;
}

export interface BoardWorkOptions {
  readonly followUps: FollowUps;
  readonly report: (error: unknown) => void;
}

export function createBoardWork(context: RoundContext, { followUps, report }: BoardWorkOptions): BoardWork {
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
      const round = await whileRenewed(context, lease, () => runBoardRound(context, lease, isWhole));
      followUps.begin(lease.personId, round.forges, round.rows);
      return true;
    } catch (error) {
      if (error instanceof LeaseLost || signal.aborted) return false;
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
    async doWhole(personId) {
      const begun = await begin(personId);
      while (begun !== undefined && !signal.aborted) {
        const lease = await takeLease(database, personId, { at: now(), want: { wholeSince: begun } });
        if (lease !== undefined && (await work(lease, true))) return;
        const progress = await findProgress(database, personId);
        if (progress === undefined || progress.done > begun) return;
        await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
      }
    },
    async doDue(personId) {
      try {
        const at = now();
        const lease = await takeLease(database, personId, { at, want: 'due' });
        if (lease === undefined) return;
        const isWhole = lease.dueAt <= at;
        if (isWhole && (await mayWait(database, personId, at))) {
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
      await Promise.all(leases.map((lease) => dropLease(database, lease).catch(() => undefined)));
      await Promise.allSettled(inProgress.values());
    },
  };
}
