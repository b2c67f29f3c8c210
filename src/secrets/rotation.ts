import { sql } from 'kysely';
import type { Database } from '../storage/database.js';
import { appendAudit, inAuditedTransaction } from './audit-chain.js';

const DAY_MS = 86_400_000;

/** What one transaction writes, so that others get their turn. */
const MAX_TOGETHER = 100;

/** Where what the server does by itself comes from. */
const OWN_ADDRESS = '127.0.0.1';

/** Whether the present value of an object is older than it may be. */
export function isRotationDue(at: number) {
  return sql<boolean>`(rotate_after_days is not null and updated_at + rotate_after_days * ${sql.lit(DAY_MS)} <= ${at})`;
}

/** When a value of this moment is to be replaced. */
export function toDueAt(updatedAt: number, afterDays: number): number {
  return updatedAt + afterDays * DAY_MS;
}

/** Tells the audit log of values that have become due for rotation, of each once, whichever server comes first. */
export async function noteRotationsDue(database: Database, at: number): Promise<void> {
  while ((await noteSome(database, at)) === MAX_TOGETHER);
}

async function noteSome(database: Database, at: number): Promise<number> {
  const due = (within: Database) =>
    within
      .selectFrom('secret_objects')
      .select(['id', 'slug', 'version'])
      .where(isRotationDue(at))
      .where((where) =>
        where.or([where('noted_version', 'is', null), where('noted_version', '<>', where.ref('version'))]),
      )
      .orderBy('id')
      .limit(MAX_TOGETHER)
      .execute();
  // Mostly there is nothing to tell, and then nobody is held up.
  if ((await due(database)).length === 0) return 0;
  return inAuditedTransaction(database, async (transaction) => {
    const objects = await due(transaction);
    for (const { id, slug, version } of objects) {
      await transaction.updateTable('secret_objects').set({ noted_version: version }).where('id', '=', id).execute();
      const entry = { slug, variantId: id, action: 'rotation_due' } as const;
      await appendAudit(transaction, entry, { caller: undefined, ip: OWN_ADDRESS, at });
    }
    return objects.length;
  });
}
