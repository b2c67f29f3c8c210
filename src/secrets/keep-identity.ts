import { requireAdminSession } from '../accounts/scopes.js';
import { AppError } from '../errors.js';
import type { Database } from '../storage/database.js';
import type { Origin } from './actor.js';
import { appendAudit, inAuditedTransaction } from './audit-chain.js';
import { findOwnerRow, storeOwnerKeys } from './owner-keys.js';
import type { OwnerKeys } from './owner-keys.js';

/** What a browser that is signed in made of the identity. */
export interface NewIdentity extends OwnerKeys {
  readonly publicKey: string;
  /** Which passkey wrapped the other; the one does not come without the other. */
  readonly credentialId?: string | undefined;
  readonly wrappedIdentity?: string | undefined;
}

/** One entry tells of all that came: `create` with the public key, `update` when there was one. */
export async function keepIdentity(database: Database, origin: Origin, identity: NewIdentity): Promise<void> {
  const { personId } = requireAdminSession(origin.caller);
  requireWhole(identity);
  await inAuditedTransaction(database, async (transaction) => {
    const { publicKey } = identity;
    await requireFirstKey(transaction, publicKey);
    const isTold = await storeOwnerKeys(transaction, identity, origin);
    const isWrapped = await storeWrapped(transaction, personId, identity);
    if (!isWrapped || isTold) return;
    await appendAudit(transaction, { action: 'update', subjectType: 'identity', subjectId: publicKey }, origin);
  });
}

function requireWhole({ credentialId, wrappedIdentity }: NewIdentity): void {
  if ((credentialId === undefined) === (wrappedIdentity === undefined)) return;
  const field = credentialId === undefined ? 'credential_id' : 'wrapped_identity';
  throw new AppError('invalid_input', 'Expected credential_id and wrapped_identity together; received one.', { field });
}

async function requireFirstKey(transaction: Database, publicKey: string): Promise<void> {
  const known = await findOwnerRow(transaction);
  if (known === undefined || known.public_key === publicKey) return;
  const message = 'Expected the public key that is kept, which values are sealed to; received another.';
  throw new AppError('conflict', message, { field: 'public_key' });
}

/** @returns Whether a copy came that was not there. */
async function storeWrapped(transaction: Database, personId: string, identity: NewIdentity): Promise<boolean> {
  const { credentialId, wrappedIdentity } = identity;
  if (credentialId === undefined || wrappedIdentity === undefined) return false;
  const own = transaction.selectFrom('passkeys').select('wrapped_identity').where('id', '=', credentialId);
  const passkey = await own.where('person_id', '=', personId).executeTakeFirst();
  if (passkey === undefined) {
    throw new AppError('not_found', 'Expected the id of a passkey of the owner; received another.');
  }
  if (passkey.wrapped_identity === wrappedIdentity) return false;
  const wrapped = { wrapped_identity: wrappedIdentity };
  await transaction.updateTable('passkeys').set(wrapped).where('id', '=', credentialId).execute();
  return true;
}
