import { AppError } from '@trellis/core/errors';
import { type Caller, requireAdminSession } from '../accounts/callers.js';
import type { components } from '../generated/dashboard/types.js';
import type { CleanupJob } from '../storage/cleanup-job.js';
import type { Database } from '../storage/database.js';
import { toUsernameKey } from '../storage/tables.js';
import { readNotificationQueue } from './notifications/worker.js';
import { cancelLease } from './refresh/lease.js';
import type { Refresher } from './refresh/refresher.js';
import type { Deliveries } from './webhooks/deliveries.js';

type BoardJob = components['schemas']['BoardJob'];
type DeliveryJob = components['schemas']['DeliveryJob'];
type JobLists = Pick<components['schemas']['Jobs'], 'boards' | 'deliveries' | 'notifications'>;

/** The background work of boards. All functions require an admin session (else `session_required` or `forbidden`). */
export interface Jobs {
  /** Lists the refreshes and notifications of all servers, and the reads of this one after deliveries; the first 100 of each. */
  list(caller: Caller | undefined): Promise<JobLists>;
  /** Makes a board due. @throws AppError `not_found` for a user without a board. */
  refresh(caller: Caller | undefined, username: string): Promise<void>;
  /**
   * Ends a refresh, whose server discards what it has read, and postpones the board by the interval of refreshes.
   *
   * @throws AppError `not_found` unless the board is being refreshed.
   */
  cancel(caller: Caller | undefined, username: string): Promise<void>;
  /** Starts the deletion of expired data. */
  cleanUp(caller: Caller | undefined, cleanup: Pick<CleanupJob, 'runNow'>): void;
}

interface JobsOptions {
  readonly database: Database;
  readonly refresher: Pick<Refresher, 'refreshNow'>;
  readonly deliveries: Pick<Deliveries, 'listReads'>;
  readonly intervalMs: number;
  readonly now: () => number;
}

/** Enough to see what the server does; a page can't show more. */
const MAX_LISTED = 100;

export function createJobs({ database, refresher, deliveries, intervalMs, now }: JobsOptions): Jobs {
  async function findScheduled(username: string): Promise<string> {
    const row = await database
      .selectFrom('refresh_schedule')
      .innerJoin('people', 'people.id', 'refresh_schedule.person_id')
      .select('people.id')
      .where('people.username_key', '=', toUsernameKey(username))
      .executeTakeFirst();
    if (row === undefined) throw new AppError('not_found', 'This user has no board that is refreshed.');
    return row.id;
  }

  async function listDeliveries(): Promise<DeliveryJob[]> {
    const reads = deliveries.listReads().slice(0, MAX_LISTED);
    if (reads.length === 0) return [];
    const ids = [...new Set(reads.map(({ personId }) => personId))];
    const people = await database.selectFrom('people').select(['id', 'username']).where('id', 'in', ids).execute();
    const names = new Map(people.map(({ id, username }) => [id, username]));
    return reads.map(({ personId, forge, repository, state, until }) => ({
      username: names.get(personId) ?? '',
      state,
      ...(forge !== undefined && { forge }),
      ...(repository !== undefined && { repository }),
      ...(until !== undefined && { until: toTime(until) }),
    }));
  }

  return {
    async list(caller) {
      requireAdminSession(caller);
      const rows = await database
        .selectFrom('refresh_schedule')
        .innerJoin('people', 'people.id', 'refresh_schedule.person_id')
        .select(['username', 'look_at', 'lease_until', 'runs_begun'])
        .orderBy('lease_until', 'desc')
        .orderBy('look_at')
        .limit(MAX_LISTED)
        .execute();
      const at = now();
      const boards = rows.map(({ username, look_at, lease_until, runs_begun }): BoardJob => {
        const dueAt = toTime(look_at);
        if (lease_until > at)
          return { username, state: 'running', dueAt, leaseUntil: toTime(lease_until), runs: runs_begun };
        return { username, state: look_at <= at ? 'due' : 'scheduled', dueAt, runs: runs_begun };
      });
      const notifications = await readNotificationQueue(database, { at, most: MAX_LISTED });
      return { boards, deliveries: await listDeliveries(), notifications };
    },
    async refresh(caller, username) {
      requireAdminSession(caller);
      await refresher.refreshNow(await findScheduled(username));
    },
    async cancel(caller, username) {
      requireAdminSession(caller);
      const personId = await findScheduled(username);
      if (await cancelLease(database, personId, { at: now(), nextAt: now() + intervalMs })) return;
      throw new AppError('not_found', 'The board is not being refreshed.');
    },
    cleanUp(caller, cleanup) {
      requireAdminSession(caller);
      cleanup.runNow();
    },
  };
}

const toTime = (milliseconds: number): string => new Date(milliseconds).toISOString();
