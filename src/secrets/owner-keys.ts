import type { Database } from '../storage/database.js';
import type { AuditOrigin } from './actor.js';
import { appendAudit } from './audit-chain.js';
import { parsePublicKey } from './consumer-names.js';

/** What the owner's browser makes of their age identity. The server opens none of it. */
export interface OwnerKeys {
  /** The recipient. */
  readonly publicKey?: string | undefined;
  /** The identity, wrapped by a recovery phrase. */
  readonly recoveryWrappedIdentity?: string | undefined;
}

/**
 * In the caller's transaction. A public key that is there stays: values are
 * sealed to it, and who loses it loses them. So does a recovery copy, which is
 * added later only with the public key that it belongs to.
 *
 * @returns Whether anything was written.
 * @throws AppError `invalid_input` for a public key that is none.
 */
export async function storeOwnerKeys(
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
  await appendAudit(transaction, { action, subjectType: 'identity', subjectId: publicKey }, origin);
  return true;
}

export function findOwnerRow(database: Database) {
  return database.selectFrom('secret_owner').selectAll().executeTakeFirst();
}
