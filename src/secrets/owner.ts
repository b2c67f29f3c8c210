import { AppError } from '@trellis/core/errors';
import { type Caller, requireAdminSession, requireOwner } from '../accounts/callers.js';
import { type Database, inTransaction } from '../storage/database.js';
import { parsePublicKey, toKeyFingerprint } from './age-format.js';
import { appendAuditEntry, type AuditOrigin, type RequestOrigin } from './audit/chain.js';
import { updateResealOfAll } from './sealed-values.js';

/** The owner's public key and the copies of their identity. */
export interface OwnerIdentity extends OwnerKeys {
  /** The ids of the passkeys that have a copy, oldest first. */
  readonly wrappedBy: readonly string[];
}

/** The owner of the secrets: the user who manages all of them. */
export interface SecretsOwner {
  /** Reports whether the owner has registered. */
  exists(): Promise<boolean>;
  /** Returns the identity; without a session, only its public key. */
  readIdentity(caller: Caller | undefined): Promise<OwnerIdentity>;
  /** Returns the owner's age recipient; `undefined` until it is stored. */
  findPublicKey(caller: Caller | undefined): Promise<string | undefined>;
  /**
   * Saves the owner's public key and copies of the identity in one transaction. The first public key and the first
   * recovery copy are never replaced; a later copy of the same passkey replaces the previous one.
   *
   * @throws AppError `session_required` for a token; `invalid_input` for an invalid public key, and for a copy without
   * its passkey or the reverse; `conflict` for a different public key; `not_found` for an unknown passkey.
   */
  saveIdentity(origin: RequestOrigin, identity: NewIdentity): Promise<OwnerIdentity>;
}

export function createSecretsOwner(database: Database): SecretsOwner {
  return {
    async exists() {
      const admins = database.selectFrom('people').select('id').where('is_admin', '=', 1).limit(1);
      return (await admins.executeTakeFirst()) !== undefined;
    },
    readIdentity: (caller) => readIdentity(database, caller),
    async findPublicKey(caller) {
      requireOwner(caller);
      return (await findOwnerRow(database))?.public_key;
    },
    async saveIdentity(origin, identity) {
      await saveIdentity(database, origin, identity);
      return readIdentity(database, origin.caller);
    },
  };
}

async function readIdentity(database: Database, caller: Caller | undefined): Promise<OwnerIdentity> {
  const { kind, personId } = requireOwner(caller);
  const row = await findOwnerRow(database);
  if (kind !== 'session') return { publicKey: row?.public_key, wrappedBy: [] };
  const recovery = row?.recovery_wrapped_identity ?? undefined;
  const wrappedBy = await listWrapping(database, personId);
  return { publicKey: row?.public_key, recoveryWrappedIdentity: recovery, wrappedBy };
}

/** Returns the ids of a user's passkeys that have a copy of the identity. */
async function listWrapping(database: Database, personId: string): Promise<readonly string[]> {
  const own = database.selectFrom('passkeys').select('id').where('person_id', '=', personId);
  const rows = await own.where('wrapped_identity', 'is not', null).orderBy('created_at').orderBy('id').execute();
  return rows.map(({ id }) => id);
}

/** The public key and the wrapped copies of an identity, as created by a signed-in browser. */
interface NewIdentity extends OwnerKeys {
  readonly publicKey: string;
  /** The id of the passkey that wrapped `wrappedIdentity`; both are present or absent together. */
  readonly credentialId?: string;
  readonly wrappedIdentity?: string;
}

/**
 * Saves an identity, with one audit entry if anything changes: `create` with the first public key, `update` with later
 * copies.
 */
async function saveIdentity(database: Database, origin: RequestOrigin, identity: NewIdentity): Promise<void> {
  const { personId } = requireAdminSession(origin.caller);
  assertBothParts(identity);
  await inTransaction(database, async (transaction) => {
    const { publicKey } = identity;
    await assertSamePublicKey(transaction, publicKey);
    const isRecorded = await saveOwnerKeys(transaction, identity, origin);
    const isWrapped = await storeWrapped(transaction, personId, identity);
    if (!isWrapped || isRecorded) return;
    await appendAuditEntry(transaction, { action: 'update', subjectType: 'identity', subjectId: publicKey }, origin);
  });
}

function assertBothParts({ credentialId, wrappedIdentity }: NewIdentity): void {
  if ((credentialId === undefined) === (wrappedIdentity === undefined)) return;
  const field = credentialId === undefined ? 'credential_id' : 'wrapped_identity';
  throw new AppError('invalid_input', 'Send credential_id and wrapped_identity together.', { field });
}

async function assertSamePublicKey(transaction: Database, publicKey: string): Promise<void> {
  const known = await findOwnerRow(transaction);
  if (known === undefined || known.public_key === publicKey) return;
  const message = 'The owner already has a different public key.';
  throw new AppError('conflict', message, { field: 'public_key' });
}

/** Stores the copy that a passkey wrapped. @returns Whether the stored copy changed. */
async function storeWrapped(transaction: Database, personId: string, identity: NewIdentity): Promise<boolean> {
  const { credentialId, wrappedIdentity } = identity;
  if (credentialId === undefined || wrappedIdentity === undefined) return false;
  const own = transaction.selectFrom('passkeys').select('wrapped_identity').where('id', '=', credentialId);
  const passkey = await own.where('person_id', '=', personId).executeTakeFirst();
  if (passkey === undefined) {
    throw new AppError('not_found', 'The owner has no passkey with this id.');
  }
  if (passkey.wrapped_identity === wrappedIdentity) return false;
  const wrapped = { wrapped_identity: wrappedIdentity };
  await transaction.updateTable('passkeys').set(wrapped).where('id', '=', credentialId).execute();
  return true;
}

/** The public key and the recovery copy of the owner's age identity. The server can't decrypt the copy. */
export interface OwnerKeys {
  /** The age recipient. */
  readonly publicKey?: string;
  /** The identity, wrapped with the recovery phrase. */
  readonly recoveryWrappedIdentity?: string;
}

/**
 * Stores the owner's keys in the caller's transaction. An existing public key is never replaced, as values are sealed
 * to it. Neither is an existing recovery copy; it can be added later, together with the same public key.
 *
 * @returns Whether anything was written.
 * @throws AppError `invalid_input` for an invalid public key.
 */
export async function saveOwnerKeys(
  transaction: Database,
  { publicKey = '', recoveryWrappedIdentity }: OwnerKeys,
  origin: AuditOrigin,
): Promise<boolean> {
  if (publicKey === '') return false;
  const known = await findOwnerRow(transaction);
  const recovery = { recovery_wrapped_identity: recoveryWrappedIdentity ?? null };
  if (known === undefined) {
    const row = { id: 1, public_key: parsePublicKey(publicKey), ...recovery };
    await transaction.insertInto('secret_owner').values(row).execute();
    await updateResealOfAll(transaction);
  } else {
    const isAddition = known.public_key === publicKey && known.recovery_wrapped_identity === null;
    if (!isAddition || recoveryWrappedIdentity === undefined) return false;
    await transaction.updateTable('secret_owner').set(recovery).execute();
  }
  const action = known === undefined ? 'create' : 'update';
  const detail = { key: toKeyFingerprint(publicKey) };
  await appendAuditEntry(transaction, { action, subjectType: 'identity', subjectId: publicKey, detail }, origin);
  return true;
}

function findOwnerRow(database: Database) {
  return database.selectFrom('secret_owner').selectAll().executeTakeFirst();
}
