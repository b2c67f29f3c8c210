import { type Database, inTransaction } from '../storage/database.js';
import { sql } from '../storage/kysely.js';
import { appendAuditEntry } from './audit/chain.js';

const DAY_MS = 86_400_000;

/** The number of secrets per transaction, so that other writes do not wait long. */
const MAX_TOGETHER = 100;

/** The address in audit entries that the server writes automatically. */
const OWN_ADDRESS = '127.0.0.1';

/** The SQL condition for secrets whose value is due for rotation. */
export function rotationDueCondition(at: number) {
  return sql<boolean>`(rotate_after_days is not null and updated_at + rotate_after_days * ${sql.lit(DAY_MS)} <= ${at})`;
}

/** Returns the time at which a value is due for rotation, in milliseconds. */
export function toDueAt(updatedAt: number, afterDays: number): number {
  return updatedAt + afterDays * DAY_MS;
}

/** Records due rotations in the audit log, once for each value, even if several servers run. */
export async function recordDueRotations(database: Database, at: number): Promise<void> {
  while ((await recordBatch(database, at)) === MAX_TOGETHER);
}

/** A secret whose value is due for rotation. */
interface DueSecret {
  readonly id: string;
  readonly slug: string;
  /** The version of the value. */
  readonly version: number;
}

/** More reminders at a time would help no reader. */
const MAX_DUE = 500;

/** Lists the secrets that are due for rotation, those that are due the longest first, at most 500. */
export async function listDueRotations(database: Database, at: number): Promise<DueSecret[]> {
  return database
    .selectFrom('secret_objects')
    .select(['id', 'slug', 'version'])
    .where(rotationDueCondition(at))
    .orderBy((order) => order('updated_at', '+', order('rotate_after_days', '*', order.lit(DAY_MS))))
    .orderBy('id')
    .limit(MAX_DUE)
    .execute();
}

async function recordBatch(database: Database, at: number): Promise<number> {
  const due = (within: Database) =>
    within
      .selectFrom('secret_objects')
      .select(['id', 'slug', 'version'])
      .where(rotationDueCondition(at))
      .where((where) =>
        where.or([where('noted_version', 'is', null), where('noted_version', '<>', where.ref('version'))]),
      )
      .orderBy((order) => order('updated_at', '+', order('rotate_after_days', '*', order.lit(DAY_MS))))
      .limit(MAX_TOGETHER)
      .execute();
  // Checked without a transaction first, as usually nothing is due and other writes need not wait.
  if ((await due(database)).length === 0) return 0;
  return inTransaction(database, async (transaction) => {
    const objects = await due(transaction);
    for (const { id, slug, version } of objects) {
      await transaction.updateTable('secret_objects').set({ noted_version: version }).where('id', '=', id).execute();
      const entry = { slug, variantId: id, action: 'rotation_due' } as const;
      await appendAuditEntry(transaction, entry, { caller: undefined, ip: OWN_ADDRESS, at });
    }
    return objects.length;
  });
}
