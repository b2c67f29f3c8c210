import { AppError } from '@trellis/core/errors';
import type { Database } from '../../storage/database.js';
import { sql } from '../../storage/kysely.js';
import { prepare } from '../../storage/prepared.js';
import type { AuditLogTable } from '../../storage/tables.js';
import { type AuditHead, EMPTY_AUDIT_HEAD, hashAuditEntry } from './chain.js';
import { isArchiveSigned, isCheckpointSigned } from './signatures.js';

/** The number of entries in memory at a time. */
const PAGE = 1_000;

export interface VerificationRequest {
  /** The result of an earlier verification, with `head`; the log must still contain these entries. */
  readonly entries?: number;
  readonly head?: string;
  /** Whether to verify all entries, instead of those after the last signed position. */
  readonly full?: boolean;
  /** Stops the verification. */
  readonly signal?: AbortSignal;
}

export interface Verification {
  /** The stored end of the chain; save it outside the database to compare it with the next verification. */
  readonly head: AuditHead;
  /** `undefined` for an intact log. */
  readonly broken: BrokenEntry | undefined;
  /** The id of the first entry that was verified. The entries before it led to a hash that a server has signed. */
  readonly from: number;
}

export interface BrokenEntry {
  /** The first entry that doesn't match the chain: the next one, if a changed entry was also rehashed. */
  readonly id: number;
  /** `added` means that the entry is beyond the stored end of the chain. */
  readonly reason: 'added' | 'changed' | 'missing';
}

/**
 * Verifies the chain, a page at a time, from the last position that a server has signed, or from its first entry.
 * Entries that are written during the verification are not included.
 *
 * An attacker with write access to the database can compute the chain again, including its head, and remove the signed
 * positions. Only a comparison with a head that was saved outside the database detects that. Without that, the attacker
 * can change nothing before a signed position.
 */
export async function verifyAuditChain(database: Database, request: VerificationRequest = {}): Promise<Verification> {
  const base = await readArchivedHead(database);
  const saved = readSavedHead(request, base);
  const { head, last } = await readEnd(database);
  const checkpoints = (await readCheckpoints(database)).filter(({ count }) => count > base.count);
  const known = saved === undefined ? checkpoints : [...checkpoints, saved];
  const start = (request.full === true ? undefined : checkpoints.at(-1)) ?? base;
  const mismatch = await findMismatch(database, head, { base, start, known, signal: request.signal });
  const hasMore = last > head.count || (await hasRejected(database));
  const broken = mismatch ?? (hasMore ? { id: head.count + 1, reason: 'added' as const } : undefined);
  return { head, broken, from: start.count + 1 };
}

/** Returns the signed positions in their order. Forged ones have no meaning. */
async function readCheckpoints(database: Database): Promise<AuditHead[]> {
  const rows = await database.selectFrom('audit_checkpoints').selectAll().orderBy('id').execute();
  return rows
    .filter(({ id, hash, signature }) => isCheckpointSigned(database, { count: id, hash }, signature))
    .map(({ id, hash }) => ({ count: id, hash }));
}

/** Returns whether the sequencer has rejected an entry, because its signature was wrong. */
async function hasRejected(database: Database): Promise<boolean> {
  const { rows } = await sql`select 1 from audit_pending where is_rejected = 1 limit 1`.execute(database);
  return rows.length > 0;
}

/** Returns the position before the first entry of the log: the end of the last archived file. */
export async function readArchivedHead(database: Database): Promise<AuditHead> {
  const last = await database.selectFrom('audit_archives').selectAll().orderBy('first_id', 'desc').executeTakeFirst();
  if (last === undefined || !isArchiveSigned(database, last)) return EMPTY_AUDIT_HEAD;
  return { count: last.last_id, hash: last.hash };
}

function readSavedHead({ entries, head }: VerificationRequest, base: AuditHead): AuditHead | undefined {
  if ((entries === undefined) !== (head === undefined)) {
    const field = head === undefined ? 'head' : 'entries';
    throw new AppError('invalid_input', 'Send entries and head together, from an earlier verification.', {
      field,
    });
  }
  if (entries === undefined || head === undefined) return undefined;
  if (entries >= base.count) return { count: entries, hash: head };
  const message = `Expected entries to be at least ${base.count}, as earlier entries are archived; received ${entries}.`;
  throw new AppError('invalid_input', message, { field: 'entries' });
}

interface Comparison {
  /** The position before the first entry. */
  readonly base: AuditHead;
  /** The position after which the chain is verified. */
  readonly start: AuditHead;
  /** The positions that the log must contain. */
  readonly known: readonly AuditHead[];
  readonly signal: AbortSignal | undefined;
}

async function findMismatch(
  database: Database,
  head: AuditHead,
  { base, start, known, signal }: Comparison,
): Promise<BrokenEntry | undefined> {
  const early = await findChanged(
    database,
    known.filter(({ count }) => count > base.count && count <= start.count),
  );
  if (early !== undefined) return early;
  if (known.some(({ count, hash }) => count === base.count && hash !== base.hash))
    return { id: base.count, reason: 'changed' };
  const expected = new Map(known.map(({ count, hash }) => [count, hash]));
  let end = start;
  for await (const row of readAuditEntries(
    database,
    start.count === base.count ? Number.MIN_SAFE_INTEGER : start.count,
  )) {
    signal?.throwIfAborted();
    if (end.count === head.count) break;
    const id = end.count + 1;
    if (row.id !== id) return { id, reason: row.id < id ? 'added' : 'missing' };
    if (row.hash !== hashAuditEntry(end.hash, row)) return { id, reason: 'changed' };
    if ((expected.get(id) ?? row.hash) !== row.hash) return { id, reason: 'changed' };
    end = { count: id, hash: row.hash };
  }
  const count = Math.max(head.count, ...known.map((position) => position.count));
  if (end.count < count) return { id: end.count + 1, reason: 'missing' };
  return end.hash === head.hash ? undefined : { id: Math.max(end.count, 1), reason: 'changed' };
}

/** Returns the first known position at which the log has no entry, or one with a different hash. */
async function findChanged(database: Database, known: readonly AuditHead[]): Promise<BrokenEntry | undefined> {
  for (let at = 0; at < known.length; at += PAGE) {
    const some = known.slice(at, at + PAGE);
    const ids = some.map(({ count }) => count);
    const rows = await database.selectFrom('audit_log').select(['id', 'hash']).where('id', 'in', ids).execute();
    const hashes = new Map(rows.map(({ id, hash }) => [id, hash]));
    const changed = some.find(({ count, hash }) => hashes.get(count) !== hash);
    if (changed) return { id: changed.count, reason: hashes.has(changed.count) ? 'changed' : 'missing' };
  }
  return undefined;
}

/** Reads the entries after an id. A forged entry may have an id below the first, which must be found too. */
export async function* readAuditEntries(database: Database, start: number): AsyncGenerator<AuditLogTable> {
  for (let after = start; ;) {
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
