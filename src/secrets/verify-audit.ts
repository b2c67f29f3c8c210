import { sql } from 'kysely';
import { AppError } from '../errors.js';
import type { Database } from '../storage/database.js';
import { prepare } from '../storage/prepared.js';
import type { AuditLogTable } from '../storage/tables.js';
import { EMPTY, hashEntry } from './audit-chain.js';
import type { AuditHead } from './audit-chain.js';

/** Entries that are held in memory at once. */
const PAGE = 1_000;

export interface VerifyRequest {
  /** The number of entries that an earlier check told, and the head that goes with it: they must still be there. */
  readonly entries?: number | undefined;
  readonly head?: string | undefined;
  /** Ends the check. */
  readonly signal?: AbortSignal | undefined;
}

export interface Verification {
  /** The end of the chain as it is stored; to be kept elsewhere, where whoever alters the database can't. */
  readonly head: AuditHead;
  /** `undefined` when every entry is as it was written. */
  readonly broken: BrokenEntry | undefined;
}

export interface BrokenEntry {
  /** The first that is not as it was written. An altered entry whose own hash was made anew shows at the next one. */
  readonly id: number;
  /** `added` lies behind the stored end of the chain. */
  readonly reason: 'added' | 'changed' | 'missing';
}

/**
 * Checks the chain from its first entry, a page at a time. Entries that are
 * written meanwhile are left for the next check.
 *
 * Whoever can write to the database can make the whole chain anew, its head
 * included; only a head that was kept elsewhere tells.
 */
export async function verifyAudit(database: Database, request: VerifyRequest = {}): Promise<Verification> {
  const kept = readKept(request);
  const { head, last } = await readEnd(database);
  const walked = await walk(database, head, { kept, signal: request.signal });
  const broken = walked ?? (last > head.count ? { id: head.count + 1, reason: 'added' as const } : undefined);
  return { head, broken };
}

function readKept({ entries, head }: VerifyRequest): AuditHead | undefined {
  if ((entries === undefined) !== (head === undefined)) {
    const field = head === undefined ? 'head' : 'entries';
    throw new AppError('invalid_input', 'Expected entries and head together, as an earlier check told them.', {
      field,
    });
  }
  return entries === undefined || head === undefined ? undefined : { count: entries, hash: head };
}

interface Walk {
  readonly kept: AuditHead | undefined;
  readonly signal: AbortSignal | undefined;
}

async function walk(database: Database, head: AuditHead, { kept, signal }: Walk): Promise<BrokenEntry | undefined> {
  let end = EMPTY;
  for await (const row of readEntries(database)) {
    signal?.throwIfAborted();
    if (end.count === head.count) break;
    const id = end.count + 1;
    if (row.id !== id) return { id, reason: row.id < id ? 'added' : 'missing' };
    if (row.hash !== hashEntry(end.hash, row)) return { id, reason: 'changed' };
    if (kept?.count === id && kept.hash !== row.hash) return { id, reason: 'changed' };
    end = { count: id, hash: row.hash };
  }
  if (end.count < Math.max(head.count, kept?.count ?? 0)) return { id: end.count + 1, reason: 'missing' };
  return end.hash === head.hash ? undefined : { id: Math.max(end.count, 1), reason: 'changed' };
}

async function* readEntries(database: Database): AsyncGenerator<AuditLogTable> {
  // Ids start at 1; one below is nobody's but a forger's.
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

/** In one statement, which sees one moment: an entry behind the end is no entry of the next moment. */
async function readEnd(database: Database): Promise<{ readonly head: AuditHead; readonly last: number }> {
  const { rows } = await sql<{ count: number | null; hash: string | null; last: number | null }>`
    select (select count from audit_head) as count, (select hash from audit_head) as hash,
      (select max(id) from audit_log) as last`.execute(database);
  const { count = null, hash = null, last = null } = rows[0] ?? {};
  return { head: count === null || hash === null ? EMPTY : { count, hash }, last: last ?? 0 };
}
