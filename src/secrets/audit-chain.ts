import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { inTransaction, isPostgres } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import { prepare } from '../storage/prepared.js';
import { prepareInserts } from '../storage/prepared.js';
import type { AuditLogTable } from '../storage/tables.js';
import { toActor } from './actor.js';
import type { AuditOrigin } from './actor.js';
import type { NewAuditEntry } from './audit-actions.js';

/** The end of the chain: the number of entries, which is the id of the last one, and the hash of the last one. */
export interface AuditHead {
  readonly count: number;
  readonly hash: string;
}

export const EMPTY_AUDIT_HEAD: AuditHead = { count: 0, hash: '' };

/**
 * Runs audited work in a transaction, like `inTransaction`. On PostgreSQL it locks the chain before anything is read,
 * so that transactions of several servers wait for each other. {@link appendAuditEntry} alone would lock it after the first
 * read; the transaction would then fail to serialize and run again.
 */
export async function inAuditedTransaction<T>(
  database: Database,
  work: (transaction: Database) => Promise<T>,
): Promise<T> {
  return inTransaction(database, async (transaction) => {
    await lockAuditChain(transaction);
    return work(transaction);
  });
}

/**
 * Locks the chain until the transaction ends. It must be the first statement: on PostgreSQL, the first statement that
 * reads takes the snapshot of a serializable transaction, even while it waits for a lock; `lock table` takes none.
 * Transactions of SQLite hold the only write lock from their start.
 */
export async function lockAuditChain(transaction: Database): Promise<void> {
  if (isPostgres(transaction)) await sql`lock table audit_head in exclusive mode`.execute(transaction);
}

/**
 * Appends an entry in the caller's transaction, so that the entry and the change are committed together. Each hash
 * includes the previous one, so that a changed or removed entry is detected. Ids increase by one along the chain.
 */
export async function appendAuditEntry(
  transaction: Database,
  entry: NewAuditEntry,
  origin: AuditOrigin,
): Promise<void> {
  await appendAuditEntries(transaction, [{ entry, origin }]);
}

interface Attributed {
  readonly entry: NewAuditEntry;
  readonly origin: AuditOrigin;
}

/** Appends several entries in the given order, with fewer statements than repeated {@link appendAuditEntry}. */
export async function appendAuditEntries(database: Database, entries: readonly Attributed[]): Promise<void> {
  // A transaction that waits for others locked the chain at its start; a later lock would not prevent a conflict.
  if (database.isTransaction) await writeEntries(database, entries);
  else await inAuditedTransaction(database, (transaction) => writeEntries(transaction, entries));
}

async function writeEntries(transaction: Database, entries: readonly Attributed[]): Promise<void> {
  let { count, hash } = await readAuditHead(transaction);
  const rows: AuditLogTable[] = [];
  for (const { entry, origin } of entries) {
    count += 1;
    const row = { id: count, ...toRow(entry), ...toColumns(origin) };
    hash = hashAuditEntry(hash, row);
    rows.push({ ...row, hash });
  }
  await insertEntries(transaction, rows);
  await storeHead(transaction, { count, hash });
}

/**
 * Returns the SHA-256 of an entry, in hexadecimal. The input is the UTF-8 text of a JSON array without spaces, as
 * `JSON.stringify` formats it: the hash of the previous entry (empty for the first), then the values of this entry in
 * the order below, with null for absent ones. An array makes the column of each value unambiguous.
 */
export function hashAuditEntry(previousHash: string, row: Omit<AuditLogTable, 'hash'>): string {
  const { id, action, at, ip, caller, actor_type, actor_id } = row;
  const about = [row.subject_type, row.slug, row.variant_id, row.version, row.subject_id, row.previous_name];
  const values = [previousHash, id, action, ...about, at, ip, caller, actor_type, actor_id];
  return createHash('sha256').update(JSON.stringify(values)).digest('hex');
}

/** Returns the head of the chain; {@link EMPTY_AUDIT_HEAD} before the first entry. */
export async function readAuditHead(database: Database): Promise<AuditHead> {
  const [head = EMPTY_AUDIT_HEAD] = await findHead(database, {});
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
