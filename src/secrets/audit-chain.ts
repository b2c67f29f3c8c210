import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { inTransaction, isPostgres } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import { prepare } from '../storage/prepared.js';
import { prepareInserts } from '../storage/prepared-each.js';
import type { AuditLogTable } from '../storage/tables.js';
import { toActor } from './actor.js';
import type { AuditOrigin } from './actor.js';
import type { NewAuditEntry } from './audit-actions.js';

/** Where the chain ends: how many entries it has, which is the last one's id, and the last one's hash. */
export interface AuditHead {
  readonly count: number;
  readonly hash: string;
}

export const EMPTY: AuditHead = { count: 0, hash: '' };

/**
 * As `inTransaction`, for changes that are audited. On PostgreSQL it takes the
 * end of the chain before anything is read, so that transactions of several
 * servers wait for each other; {@link appendAudit} alone would take it too late
 * for what was read, and the transaction would have to run again.
 */
export async function inAuditedTransaction<T>(
  database: Database,
  work: (transaction: Database) => Promise<T>,
): Promise<T> {
  return inTransaction(database, async (transaction) => {
    await takeChain(transaction);
    return work(transaction);
  });
}

/**
 * Takes the end of the chain until the transaction is over. Must come first in it:
 * on PostgreSQL a statement that reads fixes what a serializable transaction
 * sees, even while it waits for a lock, and this one does not. SQLite's
 * transactions hold the one write lock from their beginning.
 */
export async function takeChain(transaction: Database): Promise<void> {
  if (isPostgres(transaction)) await sql`lock table audit_head in exclusive mode`.execute(transaction);
}

/**
 * Writes an entry in the caller's transaction, so that it is there exactly when
 * the change is. Each holds the hash of the one before: none can be changed or
 * taken out unnoticed. Ids rise by one, in the order of the chain.
 */
export async function appendAudit(transaction: Database, entry: NewAuditEntry, origin: AuditOrigin): Promise<void> {
  await appendAudits(transaction, [{ entry, origin }]);
}

interface Attributed {
  readonly entry: NewAuditEntry;
  readonly origin: AuditOrigin;
}

/** As {@link appendAudit} for several in this order, which takes less than one after another. */
export async function appendAudits(database: Database, entries: readonly Attributed[]): Promise<void> {
  // A transaction that is to wait for others has taken the end of the chain as it began; later would spare it nothing.
  if (database.isTransaction) await writeEntries(database, entries);
  else await inAuditedTransaction(database, (transaction) => writeEntries(transaction, entries));
}

async function writeEntries(transaction: Database, entries: readonly Attributed[]): Promise<void> {
  let { count, hash } = await readHead(transaction);
  const rows: AuditLogTable[] = [];
  for (const { entry, origin } of entries) {
    count += 1;
    const row = { id: count, ...toRow(entry), ...toColumns(origin) };
    hash = hashEntry(hash, row);
    rows.push({ ...row, hash });
  }
  await insertEntries(transaction, rows);
  await storeHead(transaction, { count, hash });
}

/**
 * SHA-256 in hex. The bytes are the UTF-8 of a JSON array without spaces, as
 * `JSON.stringify` writes it: the hash of the entry before (empty for the
 * first), then the values of this one in the order below; null for what it does
 * not have. An array keeps a value from passing for that of another column.
 */
export function hashEntry(previousHash: string, row: Omit<AuditLogTable, 'hash'>): string {
  const { id, action, at, ip, caller, actor_type, actor_id } = row;
  const about = [row.subject_type, row.slug, row.variant_id, row.version, row.subject_id, row.previous_name];
  const values = [previousHash, id, action, ...about, at, ip, caller, actor_type, actor_id];
  return createHash('sha256').update(JSON.stringify(values)).digest('hex');
}

/** @returns an empty chain's head while nothing was ever written. */
export async function readHead(database: Database): Promise<AuditHead> {
  const [head = EMPTY] = await findHead(database, {});
  return head;
}

const findHead = prepare((database) => database.selectFrom('audit_head').select(['count', 'hash']));

const insertEntries = prepareInserts('audit_log', [
  'id',
  'action',
  'subject_type',
  'slug',
  'variant_id',
  'version',
  'subject_id',
  'previous_name',
  'at',
  'ip',
  'caller',
  'actor_type',
  'actor_id',
  'hash',
]);

const storeHead = prepare((database, { count, hash }: AuditHead) =>
  database
    .insertInto('audit_head')
    .values({ id: 1, count, hash })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ count, hash })),
);

function toRow(entry: NewAuditEntry) {
  if ('slug' in entry) {
    const { action, slug, variantId, version = null, previousSlug = null } = entry;
    const object = { subject_type: 'object', slug, variant_id: variantId, version, subject_id: null };
    return { action, ...object, previous_name: previousSlug };
  }
  const { action, subjectType, subjectId, previousName = null } = entry;
  const subject = { subject_type: subjectType, slug: null, variant_id: null, version: null, subject_id: subjectId };
  return { action, ...subject, previous_name: previousName };
}

function toColumns({ at, ip, callerName, caller }: AuditOrigin) {
  const actor = caller && toActor(caller);
  return { at, ip, caller: callerName ?? null, actor_type: actor?.type ?? null, actor_id: actor?.id ?? null };
}
