import { createHash } from 'node:crypto';
import type { Database } from '../../storage/database.js';
import { prepare } from '../../storage/prepared.js';

/** A delivery that is replayed later is harmless: it causes one read of the repository. */
const LIFETIME_MS = 86_400_000;

/** A day of deliveries of a few busy organizations, and about 20 MB. Above that, the oldest are deleted early. */
const MAX_DELIVERIES = 100_000;

/** Entries above the limit are deleted after this many insertions. */
const PRUNE_AFTER = 1_000;

export interface SeenDeliveries {
  /** Claims a delivery. @returns whether no process has claimed these parts in the last 24 hours. */
  claim(parts: readonly string[]): Promise<boolean>;
}

interface Claim {
  readonly id: string;
  readonly at: number;
  readonly expiresAt: number;
}

const insertClaim = prepare((database, { id, at, expiresAt }: Claim) =>
  database
    .insertInto('webhook_deliveries')
    .values({ id, expires_at: expiresAt })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({ expires_at: expiresAt }).where('webhook_deliveries.expires_at', '<=', at),
    )
    .returning('id'),
);

export function createSeenDeliveries(database: Database, now: () => number): SeenDeliveries {
  let unpruned = 0;
  return {
    async claim(parts) {
      const at = now();
      const claimed = await insertClaim(database, { id: hash(parts), at, expiresAt: at + LIFETIME_MS });
      unpruned = (unpruned + 1) % PRUNE_AFTER;
      if (unpruned === 0) await pruneDeliveries(database);
      return claimed.length === 1;
    },
  };
}

/** Deletes all but the newest `most` deliveries. */
export async function pruneDeliveries(database: Database, most = MAX_DELIVERIES): Promise<void> {
  const first = database.selectFrom('webhook_deliveries').select('expires_at').orderBy('expires_at', 'desc');
  await database
    .deleteFrom('webhook_deliveries')
    .where('expires_at', '<', first.limit(1).offset(most - 1))
    .execute();
}

export async function deleteExpiredDeliveries(database: Database, at: number): Promise<void> {
  await database.deleteFrom('webhook_deliveries').where('expires_at', '<=', at).execute();
}

const hash = (parts: readonly string[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('hex');
