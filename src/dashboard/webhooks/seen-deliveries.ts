import { createHash } from 'node:crypto';
import type { Database } from '../../storage/database.js';
import { prepare } from '../../storage/prepared.js';

/** Whoever replays a delivery later costs us one look at a repository, which shows it as it is. */
const LIFETIME_MS = 86_400_000;

/** A day of a few busy organizations, and some 20 MB; with more, the oldest are forgotten before their day is over. */
const MAX_DELIVERIES = 100_000;

/** What is over the limit is deleted once so many are new. */
const PRUNE_AFTER = 1_000;

export interface SeenDeliveries {
  /** @returns whether nobody has claimed a delivery of these parts in the last 24 hours, in any process. */
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

/** Deletes what is forgotten, and all but the newest `most`. */
export async function pruneDeliveries(database: Database, most = MAX_DELIVERIES): Promise<void> {
  const first = database.selectFrom('webhook_deliveries').select('expires_at').orderBy('expires_at', 'desc');
  await database
    .deleteFrom('webhook_deliveries')
    .where('expires_at', '<', first.limit(1).offset(most - 1))
    .execute();
}

export async function sweepDeliveries(database: Database, at: number): Promise<void> {
  await database.deleteFrom('webhook_deliveries').where('expires_at', '<=', at).execute();
}

const hash = (parts: readonly string[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('hex');
