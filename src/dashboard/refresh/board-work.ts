import { setTimeout as sleep } from 'node:timers/promises';
import { runBoardRound } from './board-round.js';
import type { RoundContext } from './board-round.js';
import type { FollowUps } from './follow-ups.js';
import { mayWait } from './idle.js';
import { dropLease, endLease, LeaseLost, takeLease, whileRenewed } from './lease.js';
import type { Lease } from './lease.js';
import { findProgress, scheduleNow } from './schedule.js';

/** How often it is looked whether another process is done with a board. */
const POLL_MS = 200;

/** When something broke here, so long nobody tries again. */
const AFTER_FAILURE_MS = 60_000;

/** Works on boards, each by one process at a time. */
export interface BoardWork {
  /** Reads the whole board in a run that starts after the call, here or in another process. */
  doWhole(personId: string): Promise<void>;
  /** Does what is due of a board, unless another process does. Failures are reported. */
  doDue(personId: string): Promise<void>;
  /** Gives all leases back, and waits for what is under way. */
  close(): Promise<void>;
}

export interface BoardWorkOptions {
  readonly followUps: FollowUps;
  readonly report: (error: unknown) => void;
}

export function createBoardWork(context: RoundContext, { followUps, report }: BoardWorkOptions): BoardWork {
  const { database, now, signal, intervalMs, findSettings } = context;
  const underWay = new Map<Lease, Promise<boolean>>();

  /** @returns false when another process went on with it. */
  function work(lease: Lease, isWhole: boolean): Promise<boolean> {
    const done = run(lease, isWhole).finally(() => underWay.delete(lease));
    underWay.set(lease, done);
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
      const leases = [...underWay.keys()];
      await Promise.all(leases.map((lease) => dropLease(database, lease).catch(() => undefined)));
      await Promise.allSettled(underWay.values());
    },
  };
}
