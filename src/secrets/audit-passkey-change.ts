import type { PasskeyChange } from '../accounts/passkey-listener.js';
import type { Database } from '../storage/database.js';
import { appendAuditEntry } from './audit-chain.js';

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
