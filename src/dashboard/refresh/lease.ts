import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../../storage/database.js';

/** A server that is killed is missed after so long; clocks of servers may differ by a part of it. */
const LEASE_MS = 10_000;

/** Two renewals may fail before the lease is over. */
const RENEW_MS = 3_000;

/** The right to work on one person's board, which one process has at a time. */
export interface Lease {
  readonly personId: string;
  readonly holder: string;
  /** Counts what was begun for this board. */
  readonly run: number;
  /** When the whole board is due. */
  readonly dueAt: number;
}

/** Another process works on the board now, as this one was away for too long. What it did since is not kept. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

export interface Want {
  readonly at: number;
  /**
   * What is `due`, if anything is; or the whole board, if no run after this one has read it. Then it is due, for others
   * if we die.
   */
  readonly want: 'due' | { readonly wholeSince: number };
}

/**
 * Takes the lease in one statement, so that one of two gets it.
 *
 * @returns `undefined` when somebody has it, or there is nothing to do.
 */
export async function takeLease(database: Database, personId: string, { at, want }: Want): Promise<Lease | undefined> {
  const holder = randomUUID();
  const taken = { lease_holder: holder, lease_until: at + LEASE_MS, runs_begun: sql<number>`runs_begun + 1` };
  const free = database
    .updateTable('refresh_schedule')
    .where('person_id', '=', personId)
    .where('lease_until', '<=', at);
  const by = sql<number>`case when due_at < ${at} then due_at else ${at} end`;
  const take =
    want === 'due'
      ? free.set(taken).where('look_at', '<=', at)
      : free.set({ ...taken, due_at: by, look_at: by }).where('run_done', '<=', want.wholeSince);
  const row = await take.returning(['runs_begun', 'due_at']).executeTakeFirst();
  return row && { personId, holder, run: row.runs_begun, dueAt: row.due_at };
}

/** @throws LeaseLost when it is another's by now. */
export async function renewLease(database: Database, lease: Lease, at: number): Promise<void> {
  const { numUpdatedRows } = await ofHolder(database, lease)
    .set({ lease_until: at + LEASE_MS })
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw new LeaseLost('Expected to hold the lease of the board; another process does.');
}

/** Keeps the lease for as long as work on the board takes. */
export async function whileRenewed<T>(
  { database, now }: { readonly database: Database; readonly now: () => number },
  lease: Lease,
  work: () => Promise<T>,
): Promise<T> {
  // Whoever has lost it is told when there is something to keep.
  const renew = () => void renewLease(database, lease, now()).catch(() => undefined);
  const timer = setInterval(renew, RENEW_MS).unref();
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

export interface Ending {
  readonly dueAt: number;
  readonly lookAt: number;
  /** The whole board was read, as far as its forges let it. */
  readonly isDone: boolean;
}

/** Ends the lease with what is to come, or with what was made due meanwhile. Does nothing for a lease that is lost. */
export async function endLease(database: Database, lease: Lease, { dueAt, lookAt, isDone }: Ending): Promise<void> {
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

/** Lets others take it at once. */
export async function dropLease(database: Database, lease: Lease): Promise<void> {
  await ofHolder(database, lease).set({ lease_holder: null, lease_until: 0 }).execute();
}

function ofHolder(database: Database, { personId, holder }: Lease) {
  const update = database.updateTable('refresh_schedule').where('person_id', '=', personId);
  return update.where('lease_holder', '=', holder);
}
