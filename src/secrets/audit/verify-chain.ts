import { AppError } from '@trellis/core/errors';
import type { Database } from '../../storage/database.js';
import { sql } from '../../storage/kysely.js';
import { prepare } from '../../storage/prepared.js';
import type { AuditLogTable } from '../../storage/tables.js';
import { type AuditHead, EMPTY_AUDIT_HEAD, hashAuditEntry } from './chain.js';

/** The number of entries in memory at a time. */
const PAGE = 1_000;

export interface VerificationRequest {
  /** The result of an earlier verification, with `head`; the log must still contain these entries. */
  readonly entries?: number;
  readonly head?: string;
  /** Stops the verification. */
  readonly signal?: AbortSignal;
}

export interface Verification {
  /** The stored end of the chain; save it outside the database to compare it with the next verification. */
  readonly head: AuditHead;
  /** `undefined` for an intact log. */
  readonly broken: BrokenEntry | undefined;
}

export interface BrokenEntry {
  /** The first entry that doesn't match the chain: the next one, if a changed entry was also rehashed. */
  readonly id: number;
  /** `added` means that the entry is beyond the stored end of the chain. */
  readonly reason: 'added' | 'changed' | 'missing';
}

/**
 * Verifies the chain from its first entry, a page at a time. Entries that are written during the verification are not
 * included.
 *
 * An attacker with write access to the database can compute the whole chain again, including its head. Only a
 * comparison with a head that was saved outside the database detects that.
 */
export async function verifyAuditChain(database: Database, request: VerificationRequest = {}): Promise<Verification> {
  const saved = readSavedHead(request);
  const { head, last } = await readEnd(database);
  const mismatch = await findMismatch(database, head, { saved, signal: request.signal });
  const broken = mismatch ?? (last > head.count ? { id: head.count + 1, reason: 'added' as const } : undefined);
  return { head, broken };
}

function readSavedHead({ entries, head }: VerificationRequest): AuditHead | undefined {
  if ((entries === undefined) !== (head === undefined)) {
    const field = head === undefined ? 'head' : 'entries';
    throw new AppError('invalid_input', 'Send entries and head together, from an earlier verification.', {
      field,
    });
  }
  return entries === undefined || head === undefined ? undefined : { count: entries, hash: head };
}

interface Comparison {
  readonly saved: AuditHead | undefined;
  readonly signal: AbortSignal | undefined;
}

async function findMismatch(
  database: Database,
  head: AuditHead,
  { saved, signal }: Comparison,
): Promise<BrokenEntry | undefined> {
  let end = EMPTY_AUDIT_HEAD;
  for await (const row of readEntries(database)) {
    signal?.throwIfAborted();
    if (end.count === head.count) break;
    const id = end.count + 1;
    if (row.id !== id) return { id, reason: row.id < id ? 'added' : 'missing' };
    if (row.hash !== hashAuditEntry(end.hash, row)) return { id, reason: 'changed' };
    if (saved?.count === id && saved.hash !== row.hash) return { id, reason: 'changed' };
    end = { count: id, hash: row.hash };
  }
  if (end.count < Math.max(head.count, saved?.count ?? 0)) return { id: end.count + 1, reason: 'missing' };
  return end.hash === head.hash ? undefined : { id: Math.max(end.count, 1), reason: 'changed' };
}

async function* readEntries(database: Database): AsyncGenerator<AuditLogTable> {
  // Ids start at 1; a forged entry may have a lower one, which must be found too.
  for (let after = Number.MIN_SAFE_INTEGER; ;) {
    const rows = await readPage(database, { after });
    yield* rows;
    if (rows.length < PAGE) return;
    after = rows.at(-1)?.id ?? after;
  }
}

const readPage = prepare((database, { after }: { readonly after: number }) =>
  database.selectFrom('audit_log').selectAll().where('id', '>', after).orderBy('id').limit(sql.lit(PAGE)),
);

/** Reads the head and the last id in one statement, so that a concurrent entry can't look like an added one. */
async function readEnd(database: Database): Promise<{ readonly head: AuditHead; readonly last: number }> {
  const { rows } = await sql<{ count: number | null; hash: string | null; last: number | null }>`
    select (select count from audit_head) as count, (select hash from audit_head) as hash,
      (select max(id) from audit_log) as last`.execute(database);
  const { count = null, hash = null, last = null } = rows[0] ?? {};
  return { head: count === null || hash === null ? EMPTY_AUDIT_HEAD : { count, hash }, last: last ?? 0 };
}
