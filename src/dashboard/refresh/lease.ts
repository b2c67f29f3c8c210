import { randomUUID } from 'node:crypto';
import type { Database } from '../../storage/database.js';
import { sql } from '../../storage/kysely.js';

/** Other servers take over from a killed one after this time. They share the clock of the database. */
const LEASE_MS = 10_000;

/** Two renewals may fail before the lease expires. */
const RENEW_MS = 3_000;

/** The exclusive, time-limited right of one process to refresh a board. */
export interface Lease {
  readonly personId: string;
  readonly holder: string;
  /** The number of this refresh run of the board. */
  readonly run: number;
  /** When the whole board is due, in milliseconds. */
  readonly dueAt: number;
}

/** Thrown if the lease has expired and another process has acquired it. Unsaved work is lost. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLost';
}

export interface LeaseRequest {
  readonly at: number;
  /**
   * `due` requests the due parts of the board. `wholeSince` requests the whole board, unless a run with a larger number
   * has read it. The board is then marked as due, so that another process takes over if this one dies.
   */
  readonly scope: 'due' | { readonly wholeSince: number };
}

/**
 * Acquires the lease in one statement, so that only one of several processes succeeds.
 *
 * @returns `undefined` if another process has the lease, or nothing is to be done.
 */
export async function acquireLease(
  database: Database,
  personId: string,
  { at, scope }: LeaseRequest,
): Promise<Lease | undefined> {
  const holder = randomUUID();
  const acquired = { lease_holder: holder, lease_until: at + LEASE_MS, runs_begun: sql<number>`runs_begun + 1` };
  const free = database
    .updateTable('refresh_schedule')
    .where('person_id', '=', personId)
    .where('lease_until', '<=', at);
  const by = sql<number>`case when due_at < ${at} then due_at else ${at} end`;
  const take =
    scope === 'due'
      ? free.set(acquired).where('look_at', '<=', at)
      : free.set({ ...acquired, due_at: by, look_at: by }).where('run_done', '<=', scope.wholeSince);
  const row = await take.returning(['runs_begun', 'due_at']).executeTakeFirst();
  return row && { personId, holder, run: row.runs_begun, dueAt: row.due_at };
}

/** @throws {@link LeaseLost} if another process has the lease. */
export async function renewLease(database: Database, lease: Lease, at: number): Promise<void> {
  const { numUpdatedRows } = await ofHolder(database, lease)
    .set({ lease_until: at + LEASE_MS })
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw new LeaseLostError('Another process holds the lease of the board.');
}

/** Renews the lease until the work on the board is done. */
export async function withLeaseRenewal<T>(
  { database, now }: { readonly database: Database; readonly now: () => number },
  lease: Lease,
  work: () => Promise<T>,
): Promise<T> {
  // A lost lease is detected when the work saves its results.
  const renew = () => void renewLease(database, lease, now()).catch(() => undefined);
  const timer = setInterval(renew, RENEW_MS).unref();
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

export interface LeaseEnd {
  readonly dueAt: number;
  readonly lookAt: number;
  /** Whether the whole board was read, apart from errors of its forges. */
  readonly isDone: boolean;
}

/**
 * Ends the lease and saves the next due times, unless the board was made due during the run. Does nothing if the lease
 * is lost.
 */
export async function endLease(database: Database, lease: Lease, { dueAt, lookAt, isDone }: LeaseEnd): Promise<void> {
  const isSame = sql`due_at = ${lease.dueAt}`;
  await ofHolder(database, lease)
    .set({
      lease_holder: null,
      lease_until: 0,
      due_at: sql<number>`case when ${isSame} then ${dueAt} else due_at end`,
      look_at: sql<number>`case when ${isSame} then ${lookAt} else due_at end`,
      ...(isDone ? { run_done: lease.run } : {}),
    })
    .execute();
}

/**
 * Ends the lease of any process, which then discards its work, and postpones the board.
 *
 * @returns false if no process had a lease.
 */
export async function cancelLease(
  database: Database,
  personId: string,
  { at, nextAt }: { readonly at: number; readonly nextAt: number },
): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable('refresh_schedule')
    .set({ lease_holder: null, lease_until: 0, due_at: nextAt, look_at: nextAt })
    .where('person_id', '=', personId)
    .where('lease_until', '>', at)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Lets another process acquire the lease at once. */
export async function releaseLease(database: Database, lease: Lease): Promise<void> {
  await ofHolder(database, lease).set({ lease_holder: null, lease_until: 0 }).execute();
}

function ofHolder(database: Database, { personId, holder }: Lease) {
  const update = database.updateTable('refresh_schedule').where('person_id', '=', personId);
  return update.where('lease_holder', '=', holder);
}
