import { createHash } from 'node:crypto';
import type { Caller, ConsumerTokenCaller, SessionCaller, TokenCaller } from '../../accounts/callers.js';
import type { PasskeyChange } from '../../accounts/events.js';
import { type Database, inTransaction, isPostgres } from '../../storage/database.js';
import { prepare, prepareInsert, prepareInserts } from '../../storage/prepared.js';
import type { AuditLogTable } from '../../storage/tables.js';
import { signCheckpoint, signEntry } from './signatures.js';

/** The audited actions on secrets. */
type ObjectAction = 'create' | 'delete' | 'read' | 'rename' | 'restore' | 'rotation_due' | 'update';

/** The audited actions on everything else that decides who can read secrets. */
export type SubjectAction =
  'create' | 'delete' | 'denied' | 'merge' | 'purge' | 'rename' | 'revoke' | 'rotate' | 'update';

/** The audited subjects other than secrets; `identity` is the owner's public key, `request` is a denied one. */
export type SubjectType =
  'consumer' | 'consumer_token' | 'identity' | 'passkey' | 'request' | 'token' | 'workload_rule';

export type AuditAction = ObjectAction | SubjectAction;

/** Further facts of an entry. */
export interface AuditDetail {
  /** The number of the value that was stored. */
  readonly value?: number;
  /** The SHA-256 of the stored bytes, in hexadecimal. */
  readonly digest?: string;
  /** The fingerprints of the recorded recipients, sorted. */
  readonly recipients?: readonly string[];
  /** The fingerprint of the key that signed the value. */
  readonly signer?: string;
  /** The fingerprint of the public key that was registered. */
  readonly key?: string;
  /** The fingerprint of the public key before. */
  readonly previousKey?: string;
  /** The error code of denied requests. */
  readonly reason?: string;
  /** The number of denied requests. */
  readonly count?: number;
  /** The names of the secrets that were requested; the first ones. */
  readonly names?: readonly string[];
  /** The rule by which a token was issued to a workload. */
  readonly rule?: string;
  /** The issuer of the exchanged token. */
  readonly issuer?: string;
  /** The subject of the exchanged token. */
  readonly subject?: string;
  /** The name of the device that requested a token, as it gave it. */
  readonly device?: string;
  /** The IP address of that device. */
  readonly deviceAddress?: string;
}

interface ObjectEntry {
  readonly action: ObjectAction;
  /** The slug at the time of the action; after a rename, the new one. */
  readonly slug: string;
  readonly variantId: string;
  /** The previous version that was read or restored. */
  readonly version?: number;
  /** The slug before a rename. */
  readonly previousSlug?: string;
  readonly detail?: AuditDetail;
}

interface SubjectEntry {
  readonly action: SubjectAction;
  readonly subjectType: SubjectType;
  /** The name of a consumer, the id of a token, passkey or operation, or a public key; never a secret. */
  readonly subjectId: string;
  /** The name of a consumer before it was renamed or merged. */
  readonly previousName?: string;
  readonly detail?: AuditDetail;
}

export type NewAuditEntry = ObjectEntry | SubjectEntry;

/** The author of a change or read, as proven by a credential; `machine` is a command on the server's machine. */
export interface Actor {
  readonly type: Caller['kind'] | 'machine';
  readonly id: string;
}

/** The origin of a request, as recorded in the audit log. */
export interface RequestOrigin {
  readonly caller: Caller | undefined;
  /** The name that the client gave itself; not verified. */
  readonly callerName?: string;
  readonly ip: string;
  /** The time of the request, in milliseconds since the epoch. */
  readonly at: number;
}

/** The part of a caller that identifies it; `machine` is a command on the server's machine. */
type CallerIdentity =
  | 'machine'
  | Pick<ConsumerTokenCaller, 'kind' | 'tokenId'>
  | Pick<SessionCaller, 'kind'>
  | Pick<TokenCaller, 'kind' | 'tokenId'>;

/** The part of an {@link RequestOrigin} that an audit entry records. */
export interface AuditOrigin extends Omit<RequestOrigin, 'caller'> {
  readonly caller: CallerIdentity | undefined;
}

/** The end of the chain: the number of entries, which is the id of the last one, and the hash of the last one. */
export interface AuditHead {
  readonly count: number;
  readonly hash: string;
}

export const EMPTY_AUDIT_HEAD: AuditHead = { count: 0, hash: '' };

/** Records an entry in the caller's transaction, so that the entry and the change are committed together. */
export async function appendAuditEntry(
  transaction: Database,
  entry: NewAuditEntry,
  origin: AuditOrigin,
): Promise<void> {
  await appendAuditEntries(transaction, [{ entry, origin }]);
}

/** An entry with the request that it records. */
interface Attributed {
  readonly entry: NewAuditEntry;
  readonly origin: AuditOrigin;
}

/**
 * Records several entries in the given order, with fewer statements than repeated {@link appendAuditEntry}.
 *
 * Transactions of SQLite run one at a time, so they add their entries to the chain themselves. On PostgreSQL they would
 * wait for each other; a sequencer adds the entries afterwards (see `sequence.ts`).
 */
export async function appendAuditEntries(database: Database, entries: readonly Attributed[]): Promise<void> {
  if (isPostgres(database)) await insertPending(database, entries.map(toPendingEntry(database)));
  else await inTransaction(database, (transaction) => extendChain(transaction, entries.map(toUnchained)));
}

const toUnchained = ({ entry, origin }: Attributed): UnchainedRow => ({ ...toRow(entry), ...toColumns(origin) });

/** Receives a call for each transaction that records entries, by the part of a database that its transactions share. */
const listeners = new WeakMap<object, () => void>();

/** Sets the function that is called before entries of this process are committed, which the sequencer has to chain. */
export function onEntriesRecorded(database: Database, listener: () => void): void {
  listeners.set(database.getExecutor().adapter, listener);
}

/** Returns a function that converts an entry to a signed row, for statements that record it with a change. */
export function toPendingEntry(database: Database) {
  listeners.get(database.getExecutor().adapter)?.();
  return (attributed: Attributed) => {
    const row = toUnchained(attributed);
    // The database assigns the last two.
    return { ...row, signature: signEntry(database, row) ?? null, number: 0, is_rejected: 0 };
  };
}

/** The stored values of an entry that has no place in the chain yet. */
export type UnchainedRow = Omit<AuditLogTable, 'hash' | 'id'>;

/** The number of entries between two signed positions. */
const CHECKPOINT_DISTANCE = 1_000;

/**
 * Adds entries to the end of the chain. Each hash includes the previous one, so that a changed or removed entry is
 * detected. Ids increase by one along the chain. No other transaction may do so at the same time.
 */
export async function extendChain(transaction: Database, entries: readonly UnchainedRow[]): Promise<void> {
  if (entries.length === 0) return;
  const start = await readAuditHead(transaction);
  let { count, hash } = start;
  const rows: AuditLogTable[] = [];
  for (const entry of entries) {
    count += 1;
    const row = { ...entry, id: count };
    hash = hashAuditEntry(hash, row);
    rows.push({ ...row, hash });
  }
  await insertEntries(transaction, rows);
  await storeHead(transaction, { count, hash });
  const isNext = Math.floor(count / CHECKPOINT_DISTANCE) > Math.floor(start.count / CHECKPOINT_DISTANCE);
  const signature = isNext ? signCheckpoint(transaction, { count, hash }) : undefined;
  if (signature !== undefined) await insertCheckpoint(transaction, { id: count, hash, signature });
}

/**
 * Returns the SHA-256 of an entry, in hexadecimal. The input is the UTF-8 text of a JSON array without spaces, as
 * `JSON.stringify` formats it: the hash of the previous entry (empty for the first), then the values of this entry in
 * the order below, with null for absent ones. An array makes the column of each value unambiguous. The text of further
 * facts is the last value; entries without facts have none, as in earlier releases.
 */
export function hashAuditEntry(previousHash: string, row: Omit<AuditLogTable, 'hash'>): string {
  const { id, action, at, ip, caller, actor_type, actor_id, detail } = row;
  const about = [row.subject_type, row.slug, row.variant_id, row.version, row.subject_id, row.previous_name];
  const facts = detail === null ? [] : [detail];
  const values = [previousHash, id, action, ...about, at, ip, caller, actor_type, actor_id, ...facts];
  return createHash('sha256').update(JSON.stringify(values)).digest('hex');
}

/** Returns the head of the chain; {@link EMPTY_AUDIT_HEAD} before the first entry. */
export async function readAuditHead(database: Database): Promise<AuditHead> {
  const [head = EMPTY_AUDIT_HEAD] = await findHead(database, {});
  return head;
}

const findHead = prepare((database) => database.selectFrom('audit_head').select(['count', 'hash']));

const VALUES = [
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
  'detail',
] as const;

const insertEntries = prepareInserts('audit_log', ['id', ...VALUES, 'hash']);

/** The columns of a pending entry that its writer sets. */
export const PENDING_COLUMNS = [...VALUES, 'signature'] as const;

const insertPending = prepareInserts('audit_pending', PENDING_COLUMNS);

const insertCheckpoint = prepareInsert('audit_checkpoints');

const storeHead = prepare((database, { count, hash }: AuditHead) =>
  database
    .insertInto('audit_head')
    .values({ id: 1, count, hash })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ count, hash })),
);

function toRow({ detail: facts, ...entry }: NewAuditEntry) {
  const detail = facts === undefined ? null : JSON.stringify(facts);
  if ('slug' in entry) {
    const { action, slug, variantId, version = null, previousSlug = null } = entry;
    const object = { subject_type: 'object', slug, variant_id: variantId, version, subject_id: null };
    return { action, ...object, previous_name: previousSlug, detail };
  }
  const { action, subjectType, subjectId, previousName = null } = entry;
  const subject = { subject_type: subjectType, slug: null, variant_id: null, version: null, subject_id: subjectId };
  return { action, ...subject, previous_name: previousName, detail };
}

function toColumns({ at, ip, callerName, caller }: AuditOrigin) {
  const actor = caller && toActor(caller);
  return { at, ip, caller: callerName ?? null, actor_type: actor?.type ?? null, actor_id: actor?.id ?? null };
}

/** All sessions are the owner's and share one id; existing audit logs contain it. */
const SESSION_ACTOR_ID = 'admin';

export function toActor(caller: CallerIdentity): Actor {
  if (caller === 'machine') return { type: caller, id: caller };
  return { type: caller.kind, id: caller.kind === 'session' ? SESSION_ACTOR_ID : caller.tokenId };
}

/** Records changes to the owner's passkeys by any service. Passkeys of other users give no access to secrets. */
export async function auditPasskeyChange(
  transaction: Database,
  change: PasskeyChange,
  callerName?: string,
): Promise<void> {
  const { action, passkeyId, personId, actor, from, at } = change;
  const owners = transaction.selectFrom('people').select('id').where('id', '=', personId).where('is_admin', '=', 1);
  if ((await owners.executeTakeFirst()) === undefined) return;
  const entry = { action, subjectType: 'passkey', subjectId: passkeyId } as const;
  await appendAuditEntry(transaction, entry, { caller: actor, callerName, ip: from, at });
}
