import type { Database } from '../storage/database.js';
import type { AuditOrigin } from './actor.js';
import { appendAuditEntry } from './audit-chain.js';
import { parsePublicKey } from './consumer-names.js';

/** The public key and the recovery copy of the owner's age identity. The server can't decrypt the copy. */
export interface OwnerKeys {
  /** The age recipient. */
  readonly publicKey?: string | undefined;
  /** The identity, wrapped with the recovery phrase. */
  readonly recoveryWrappedIdentity?: string | undefined;
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
  } else {
    const isAddition = known.public_key === publicKey && known.recovery_wrapped_identity === null;
    if (!isAddition || recoveryWrappedIdentity === undefined) return false;
    await transaction.updateTable('secret_owner').set(recovery).execute();
  }
  const action = known === undefined ? 'create' : 'update';
  await appendAuditEntry(transaction, { action, subjectType: 'identity', subjectId: publicKey }, origin);
  return true;
}

export function findOwnerRow(database: Database) {
  return database.selectFrom('secret_owner').selectAll().executeTakeFirst();
}
