import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../storage/database.js';
import type { Forge, ForgeName, PullRequest } from '../forges/forge.js';
import { type RefreshContext, runBoardRefresh } from './board-refresh.js';
import { acquireLease, endLease, type Lease, LeaseLostError, releaseLease, withLeaseRenewal } from './lease.js';
import { findProgress, scheduleNow } from './schedule.js';

/** How often to check whether another process has finished a board. */
const POLL_MS = 200;

/** The delay before the next attempt after an internal error. */
const AFTER_FAILURE_MS = 60_000;

/** Refreshes boards. Only one process works on a board at a time. */
interface RefreshWorker {
  /** Waits for a refresh of the whole board that starts after the call, in any process. */
  refreshAll(personId: string): Promise<void>;
  /** Refreshes the due parts of a board, unless another process does so. Reports errors instead of throwing. */
  refreshDue(personId: string): Promise<void>;
  /** Releases all leases, and waits for the work in progress. */
  close(): Promise<void>;
}

interface RefreshWorkerOptions {
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

/**
 * Called after every refresh with the forges that were read, and their rows of the board; after the refresh of one
 * repository, with the rows of that repository. Calls for the same user can overlap, also across processes, so actions
 * must be claimed before they are sent. Must not wait for a refresh.
 */
export type OnRefreshed = (
  personId: string,
  forges: ReadonlyMap<ForgeName, Forge>,
  rows: readonly PullRequest[],
) => Promise<void>;

/** Background work after refreshes, such as automation. */
interface BackgroundTasks {
  start: (...refreshed: Parameters<OnRefreshed>) => void;
  /** Waits for the work in progress. */
  close(): Promise<void>;
}

export function createBackgroundTasks(
  onRefreshed: OnRefreshed | undefined,
  report: (error: unknown) => void,
): BackgroundTasks {
  const inProgress = new Set<Promise<void>>();
  return {
    start(personId, forges, rows) {
      if (onRefreshed === undefined || forges.size === 0) return;
      const one = onRefreshed(personId, forges, rows)
        .catch(report)
        .finally(() => inProgress.delete(one));
      inProgress.add(one);
    },
    async close() {
      await Promise.all(inProgress);
    },
  };
}

/** After this time without visits, a board is refreshed less often. It is refreshed soon after its owner returns. */
const IDLE_MS = 7 * 86_400_000;

/** The largest age of an idle board. */
const MAX_AGE_MS = 6 * 3_600_000;

/** The lifetime of a session after its last use. Sessions of earlier releases have no other record of their use. */
const SESSION_MS = 30 * 86_400_000;

/** Returns whether the board is idle and recent enough to skip a refresh. */
async function canSkipRefresh(database: Database, personId: string, at: number): Promise<boolean> {
  const { read_at } = await database
    .selectFrom('forge_states')
    .select(({ fn }) => fn.min<number | null>('read_at').as('read_at'))
    .where('person_id', '=', personId)
    .executeTakeFirstOrThrow();
  return read_at !== null && at - read_at < MAX_AGE_MS && isIdle(database, personId, at);
}

/** Returns whether the owner has used no session or token for a week, no other user or feed can read the
 * board, and its changes cause no notification. */
async function isIdle(database: Database, personId: string, at: number): Promise<boolean> {
  const since = at - IDLE_MS;
  const active = await database
    .selectFrom('people')
    .select('people.id')
    .where('people.id', '=', personId)
    .where((is) => {
      const sessions = is.selectFrom('sessions').select('id_hash').where('sessions.person_id', '=', personId);
      const tokens = is.selectFrom('tokens').select('tokens.id').where('tokens.person_id', '=', personId);
      return is.or([
        // A session ends 90 days after its start at the latest, however often it is used.
        is.exists(
          sessions.where((of) => of.or([of('last_used_at', '>', since), of('expires_at', '>', since + SESSION_MS)])),
        ),
        is.exists(tokens.where((of) => of.or([of('last_used_at', '>', since), of('tokens.created_at', '>', since)]))),
        is.exists(
          is
            .selectFrom('settings')
            .select('settings.person_id')
            .where('settings.person_id', '=', personId)
            .where('saved_at', '>', since),
        ),
        is.exists(is.selectFrom('board_shares').select('owner_id').where('owner_id', '=', personId)),
        is.exists(
          is
            .selectFrom('notification_channels')
            .select('notification_channels.id')
            .where('notification_channels.person_id', '=', personId),
        ),
        is.exists(is.selectFrom('feeds').select('feeds.id').where('feeds.person_id', '=', personId)),
      ]);
    })
    .executeTakeFirst();
  return active === undefined;
}
