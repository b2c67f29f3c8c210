import type { Caller } from '../accounts/callers.js';
import { requireOwner } from '../accounts/scopes.js';
import type { Database } from '../storage/database.js';
import type { AuditOrigin } from './actor.js';
import { appendAudit, inAuditedTransaction } from './audit-chain.js';
import { parsePublicKey } from './consumer-names.js';

/** What the owner's browser makes of their age identity. The server opens none of it. */
export interface OwnerKeys {
  /** The recipient. */
  readonly publicKey?: string | undefined;
  /** The identity, wrapped by a recovery phrase. */
  readonly recoveryWrappedIdentity?: string | undefined;
}

/** The one person whom the secrets belong to. */
export interface Owner {
  /** Whether anybody has registered. */
  exists(): Promise<boolean>;
  /** What is known of the owner's identity; the recovery copy is for a session alone. */
  readIdentity(caller: Caller | undefined): Promise<OwnerKeys>;
  /** The owner's age recipient; `undefined` until it is set. */
  findPublicKey(caller: Caller | undefined): Promise<string | undefined>;
  /** Keeps the keys of the first registration that has a public one; later ones change nothing. */
  setKeys(keys: OwnerKeys, origin: AuditOrigin): Promise<void>;
}

export function createOwner(database: Database): Owner {
  return {
    async exists() {
      const admins = database.selectFrom('people').select('id').where('is_admin', '=', 1).limit(1);
      return (await admins.executeTakeFirst()) !== undefined;
    },
    async readIdentity(caller) {
      const { kind } = requireOwner(caller);
      const row = await findRow(database);
      const recovery = kind === 'session' ? row?.recovery_wrapped_identity : undefined;
      return { publicKey: row?.public_key, recoveryWrappedIdentity: recovery ?? undefined };
    },
    async findPublicKey(caller) {
      requireOwner(caller);
      return (await findRow(database))?.public_key;
    },
    setKeys: (keys, origin) =>
      inAuditedTransaction(database, (transaction) => storeOwnerKeys(transaction, keys, origin)),
  };
}

/**
 * In the caller's transaction. A public key that is there stays: values are
 * sealed to it, and who loses it loses them. So does a recovery copy, which is
 * added later only with the public key that it belongs to.
 *
 * @throws AppError `invalid_input` for a public key that is none.
 */
export async function storeOwnerKeys(
  transaction: Database,
  { publicKey = '', recoveryWrappedIdentity }: OwnerKeys,
  origin: AuditOrigin,
): Promise<void> {
  if (publicKey === '') return;
  const known = await findRow(transaction);
  const recovery = { recovery_wrapped_identity: recoveryWrappedIdentity ?? null };
  if (known === undefined) {
    const row = { id: 1, public_key: parsePublicKey(publicKey), ...recovery };
    await transaction.insertInto('secret_owner').values(row).execute();
  } else {
    const isAddition = known.public_key === publicKey && known.recovery_wrapped_identity === null;
    if (!isAddition || recoveryWrappedIdentity === undefined) return;
    await transaction.updateTable('secret_owner').set(recovery).execute();
  }
  const action = known === undefined ? 'create' : 'update';
  await appendAudit(transaction, { action, subjectType: 'identity', subjectId: publicKey }, origin);
}

function findRow(database: Database) {
  return database.selectFrom('secret_owner').selectAll().executeTakeFirst();
}
