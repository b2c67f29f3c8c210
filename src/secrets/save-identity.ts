import { requireAdminSession } from '../accounts/scopes.js';
import { AppError } from '../core/errors.js';
import type { Database } from '../storage/database.js';
import type { RequestOrigin } from './actor.js';
import { appendAuditEntry, inAuditedTransaction } from './audit-chain.js';
import { findOwnerRow, saveOwnerKeys } from './owner-keys.js';
import type { OwnerKeys } from './owner-keys.js';

/** The public key and the wrapped copies of an identity, as created by a signed-in browser. */
export interface NewIdentity extends OwnerKeys {
  readonly publicKey: string;
  /** The id of the passkey that wrapped `wrappedIdentity`; both are present or absent together. */
  readonly credentialId?: string | undefined;
  readonly wrappedIdentity?: string | undefined;
}

/**
 * Saves an identity, with one audit entry if anything changes: `create` with the first public key, `update` with later
 * copies.
 */
export async function saveIdentity(database: Database, origin: RequestOrigin, identity: NewIdentity): Promise<void> {
  const { personId } = requireAdminSession(origin.caller);
  assertBothParts(identity);
  await inAuditedTransaction(database, async (transaction) => {
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
