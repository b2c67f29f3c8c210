/**
 * The sequencer of the audit log: it moves committed entries to the hash chain, in batches. Any number of servers may
 * run it; one at a time holds the lock.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, inTransaction, isPostgres } from '../../storage/database.js';
import { sql } from '../../storage/kysely.js';
import type { ServerKey } from '../../storage/server-key.js';
import type { AuditPendingTable } from '../../storage/tables.js';
import { extendChain, onEntriesRecorded, type UnchainedRow } from './chain.js';
import {
  isArchiveSigned,
  isCheckpointSigned,
  isEntrySigned,
  signArchive,
  signCheckpoint,
  useAuditKey,
} from './signatures.js';

/** An arbitrary number that no other program locks in the same database. */
const SEQUENCER_LOCK = 7_872_656_916;

/** The number of entries per transaction. */
const MAX_TOGETHER = 1_000;

/** An entry waits at most this long for its place in the chain, and for the batch before it. */
const INTERVAL_MS = 200;

/** The same for entries of other processes that end before they have chained them, and for those of commands. */
const IDLE_INTERVAL_MS = 250;

/** Longer than a transaction can take from the record of an entry to its commit. */
const ACTIVE_MS = 15_000;

/** The pause after an error, so that a database that is down is neither loaded nor reported continuously. */
const FAILURE_INTERVAL_MS = 5_000;

/**
 * Adds the pending entries to the chain, at least those that were committed before the call.
 *
 * @param isLockAwaited Whether to wait while another server sequences; otherwise the entries are left to that server.
 * @throws AppError `unavailable` if that server holds the lock for too long.
 */
export async function sequenceAuditEntries(database: Database, isLockAwaited = true): Promise<void> {
  while ((await hasPending(database)) && (await sequenceBatch(database, isLockAwaited)) === MAX_TOGETHER);
}

async function hasPending(database: Database): Promise<boolean> {
  const { rows } = await sql`select 1 from audit_pending where is_rejected = 0 limit 1`.execute(database);
  return rows.length > 0;
}

/** Returns the number of entries that are no longer pending. */
async function sequenceBatch(database: Database, isLockAwaited: boolean): Promise<number> {
  // With this isolation, every statement sees what was committed before it, which includes the last batch.
  return inTransaction(
    database,
    async (transaction) => {
      if (!(await lockChain(transaction, isLockAwaited))) return 0;
      const rows = await takePending(transaction);
      const signed = rows.filter((row) => isEntrySigned(transaction, row));
      await extendChain(transaction, signed.map(toUnchained));
      await reject(
        transaction,
        rows.filter((row) => !signed.includes(row)),
      );
      return rows.length;
    },
    'read committed',
  );
}

/** Locks the chain until the transaction ends. Transactions of SQLite hold the only write lock from their start. */
async function lockChain(transaction: Database, isLockAwaited: boolean): Promise<boolean> {
  if (!isPostgres(transaction)) return true;
  if (isLockAwaited) await sql`select pg_advisory_xact_lock(${sql.lit(SEQUENCER_LOCK)})`.execute(transaction);
  else {
    const lock = sql<{ held: boolean }>`select pg_try_advisory_xact_lock(${sql.lit(SEQUENCER_LOCK)}) as held`;
    if ((await lock.execute(transaction)).rows[0]?.held !== true) return false;
  }
  // Servers of the previous release extend the chain themselves, under this lock.
  await sql`lock table audit_head in exclusive mode`.execute(transaction);
  return true;
}

/**
 * Removes pending entries and returns them in their order. One statement selects and deletes the same rows, so an entry
 * with a lower number that is committed later stays for the next batch.
 */
async function takePending(transaction: Database): Promise<AuditPendingTable[]> {
  const { rows } = await sql<AuditPendingTable>`
    delete from audit_pending where number in (
      select number from audit_pending where is_rejected = 0 order by number limit ${sql.lit(MAX_TOGETHER)}
    ) and is_rejected = 0 returning *`.execute(transaction);
  return rows.sort((one, other) => one.number - other.number);
}

function toUnchained({ number, signature, is_rejected, ...row }: AuditPendingTable): UnchainedRow {
  void [number, signature, is_rejected];
  return row;
}

/** Keeps entries that no server has signed, as evidence; the verification reports them. */
async function reject(transaction: Database, rows: readonly AuditPendingTable[]): Promise<void> {
  for (const row of rows) {
    await transaction
      .insertInto('audit_pending')
      .values({ ...row, is_rejected: 1 })
      .execute();
  }
}

interface Sequencer {
  /** Stops the sequencer, after it has sequenced the entries of this server. */
  close(): Promise<void>;
}

/**
 * Starts the sequencer of a server. On SQLite, it sequences the entries of a restored PostgreSQL database once.
 *
 * @param report Reports an error. The sequencer tries again.
 * @param idleMs How often to look for entries of other processes while this one records none.
 */
export function startSequencer(
  database: Database,
  report: (error: unknown) => void,
  idleMs = IDLE_INTERVAL_MS,
): Sequencer {
  const closed = new AbortController();
  const ended = run(database, { report, idleMs }, closed.signal);
  return {
    async close() {
      closed.abort();
      await ended;
    },
  };
}

interface RunOptions {
  readonly report: (error: unknown) => void;
  readonly idleMs: number;
}

async function run(database: Database, { report, idleMs }: RunOptions, signal: AbortSignal): Promise<void> {
  let activeUntil = 0;
  let waking = new AbortController();
  onEntriesRecorded(database, () => {
    activeUntil = performance.now() + ACTIVE_MS;
    waking.abort();
  });
  const sequence = async (): Promise<number> => {
    try {
      await sequenceAuditEntries(database, false);
      return INTERVAL_MS;
    } catch (error) {
      report(error);
      return FAILURE_INTERVAL_MS;
    }
  };
  const pause = (milliseconds: number, until: AbortSignal): Promise<void> =>
    sleep(milliseconds, undefined, { signal: until, ref: false }).catch(() => undefined);
  do {
    await pause(await sequence(), signal);
    if (performance.now() < activeUntil) continue;
    waking = new AbortController();
    await pause(idleMs, AbortSignal.any([signal, waking.signal]));
  } while (isPostgres(database) && !signal.aborted);
  // The last entries of this server, which no longer takes requests.
  if (isPostgres(database)) await sequence();
}

/**
 * Chains the pending entries, and signs the checkpoints with a different key. Verification then begins at the same entry
 * as before. Checkpoints with a wrong signature are deleted; archives with one keep it.
 */
export async function replaceAuditKey(transaction: Database, from: ServerKey, to: ServerKey): Promise<void> {
  useAuditKey(transaction, from);
  await sequenceAuditEntries(transaction);
  const checkpoints = await transaction.selectFrom('audit_checkpoints').selectAll().execute();
  const trusted = checkpoints.filter(({ id, hash, signature }) =>
    isCheckpointSigned(transaction, { count: id, hash }, signature),
  );
  const archives = (await transaction.selectFrom('audit_archives').selectAll().execute()).filter((archive) =>
    isArchiveSigned(transaction, archive),
  );
  useAuditKey(transaction, to);
  await transaction.deleteFrom('audit_checkpoints').execute();
  for (const { id, hash } of trusted) {
    const signature = signCheckpoint(transaction, { count: id, hash }) ?? '';
    await transaction.insertInto('audit_checkpoints').values({ id, hash, signature }).execute();
  }
  for (const archive of archives) {
    const signature = signArchive(transaction, archive) ?? '';
    await transaction
      .updateTable('audit_archives')
      .set({ signature })
      .where('first_id', '=', archive.first_id)
      .execute();
  }
}
