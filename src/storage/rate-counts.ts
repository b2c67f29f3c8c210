import { type Database, isPostgres } from './database.js';
import { sql } from './kysely.js';

/** Counts that all processes on one database share. All windows have the same length. */
export interface RateCounts {
  /** Whether only the processes of one server use the database. */
  readonly isLocal: boolean;
  /**
   * Adds an amount, 1 by default, to the count of a key. Returns the count in the current window, and the time until the
   * window ends.
   */
  take(key: string, amount?: number): Promise<{ readonly taken: number; readonly resetsInMs: number }>;
}

export interface RateCountsOptions {
  readonly windowMs: number;
  /** The time of the database, as the clocks of servers differ. */
  readonly now?: () => number;
}

export function createRateCounts(database: Database, { windowMs, now = Date.now }: RateCountsOptions): RateCounts {
  return {
    isLocal: !isPostgres(database),
    async take(key, amount = 1) {
      const at = now();
      // A window that ends much later began before the clock was set back.
      const isOver = sql<boolean>`(rate_counts.ends_at <= ${at} or rate_counts.ends_at > ${at + 2 * windowMs})`;
      const { taken, ends_at } = await database
        .insertInto('rate_counts')
        .values({ key, taken: amount, ends_at: at + windowMs })
        .onConflict((conflict) =>
          conflict.column('key').doUpdateSet({
            taken: sql<number>`case when ${isOver} then excluded.taken else rate_counts.taken + excluded.taken end`,
            ends_at: sql<number>`case when ${isOver} then excluded.ends_at else rate_counts.ends_at end`,
          }),
        )
        .returning(['taken', 'ends_at'])
        .executeTakeFirstOrThrow();
      return { taken, resetsInMs: ends_at - at };
    },
  };
}

/** Deletes the counts whose window has ended. */
export async function deleteExpiredRateCounts(database: Database, at: number): Promise<void> {
  await database.deleteFrom('rate_counts').where('ends_at', '<=', at).execute();
}
