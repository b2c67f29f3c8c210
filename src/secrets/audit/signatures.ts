/**
 * Signatures of the audit log, with a key that is derived from the server key. A user who can write to the database, but
 * can't read the server key, can't make them.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Database } from '../../storage/database.js';
import type { ServerKey } from '../../storage/server-key.js';
import type { AuditArchivesTable, AuditLogTable } from '../../storage/tables.js';

/** The keys by the part of a database that its transactions share. */
const keys = new WeakMap<object, Uint8Array>();

const toShared = (database: Database): object => database.getExecutor().adapter;

/** Signs the entries that are written by this database from now on, and trusts signed positions of the chain. */
export function useAuditKey(database: Database, key: ServerKey): void {
  keys.set(toShared(database), key.derive('audit log'));
}

type Signed = readonly (number | string | null)[];

/** Returns the HMAC of the UTF-8 text of a JSON array; `undefined` without a key. */
function sign(database: Database, values: Signed): string | undefined {
  const key = keys.get(toShared(database));
  return key && createHmac('sha256', key).update(JSON.stringify(values)).digest('hex');
}

/** Returns whether a signature is right. Without a key, nothing can be said, and `otherwise` is returned. */
function isSigned(database: Database, values: Signed, signature: string | null, otherwise: boolean): boolean {
  const expected = sign(database, values);
  if (expected === undefined) return otherwise;
  const [own, given] = [Buffer.from(expected), Buffer.from(signature ?? '')];
  return own.length === given.length && timingSafeEqual(own, given);
}

type EntryValues = Omit<AuditLogTable, 'hash' | 'id'>;

function toEntryValues(row: EntryValues): Signed {
  const { action, at, ip, caller, actor_type, actor_id, detail } = row;
  const about = [row.subject_type, row.slug, row.variant_id, row.version, row.subject_id, row.previous_name];
  return ['entry', action, ...about, at, ip, caller, actor_type, actor_id, ...(detail === null ? [] : [detail])];
}

export const signEntry = (database: Database, row: EntryValues): string | undefined =>
  sign(database, toEntryValues(row));

export const isEntrySigned = (database: Database, row: EntryValues & { readonly signature: string | null }): boolean =>
  isSigned(database, toEntryValues(row), row.signature, true);

type Archive = Pick<AuditArchivesTable, 'digest' | 'first_id' | 'hash' | 'last_id' | 'name'>;

const toArchiveValues = ({ first_id, last_id, hash, name, digest }: Archive): Signed => [
  'archive',
  first_id,
  last_id,
  hash,
  name,
  digest,
];

export const signArchive = (database: Database, archive: Archive): string | undefined =>
  sign(database, toArchiveValues(archive));

/** Without a key, the archive is trusted, as the log would otherwise have no beginning. */
export const isArchiveSigned = (database: Database, archive: AuditArchivesTable): boolean =>
  isSigned(database, toArchiveValues(archive), archive.signature, true);

interface Position {
  readonly count: number;
  readonly hash: string;
}

export const signCheckpoint = (database: Database, { count, hash }: Position): string | undefined =>
  sign(database, ['checkpoint', count, hash]);

export const isCheckpointSigned = (database: Database, { count, hash }: Position, signature: string): boolean =>
  isSigned(database, ['checkpoint', count, hash], signature, false);
