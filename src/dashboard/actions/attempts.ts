import { randomUUID } from 'node:crypto';
import { inTransaction } from '../../storage/database.js';
import type { Database } from '../../storage/database.js';
import type { ActionName } from '../forges/facts.js';
import { toPullRequestRow } from './keep-marks.js';
import type { PullRequestAddress } from './keep-marks.js';
import { refuse } from './refusals.js';

/** Moved on while something is sent; after a crash, nobody waits longer. */
const LEASE_MS = 60_000;
const RENEW_MS = 20_000;

/** What became of it shows on the board long before. */
const KEEP_MS = 86_400_000;

/** Something was sent, or about to be, and nobody knows what became of it. */
export interface LostAttempt {
  /** The newest commit at that time, where it was known. */
  readonly headSha: string | undefined;
  readonly beganAt: number;
}

/** The right to send one action, which nobody else has meanwhile, in any process. */
export interface Attempt {
  readonly lost: LostAttempt | undefined;
  /** Goes on after a lost one: from now on it is this one of which it may not be known. */
  restart(): Promise<void>;
  /** The outcome is known. */
  end(): Promise<void>;
  /** The outcome is not known: who comes next has to find out first. */
  lose(): Promise<void>;
}

/** What is being sent to forges. Every action of a pull request is sent by one at a time. */
export interface Attempts {
  /** @throws AppError `conflict` (`in_progress`) while somebody else is at it. */
  begin(address: PullRequestAddress, action: ActionName, headSha: string | undefined): Promise<Attempt>;
}

export function createAttempts(database: Database, now: () => number = Date.now): Attempts {
  return {
    async begin(address, action, headSha) {
      const key = { ...toPullRequestRow(address), action };
      const claim = randomUUID();
      const lost = await take(database, { key, claim, headSha, at: now() });
      const own = database.updateTable('action_attempts').where('claim', '=', claim);
      const renewal = setInterval(() => void renew().catch(() => undefined), RENEW_MS).unref();
      const renew = () => own.set({ lease_until: now() + LEASE_MS }).execute();
      return {
        lost,
        async restart() {
          await own.set({ head_sha: headSha ?? null, began_at: now() }).execute();
        },
        async end() {
          clearInterval(renewal);
          await database.deleteFrom('action_attempts').where('claim', '=', claim).execute();
        },
        async lose() {
          clearInterval(renewal);
          await own.set({ lease_until: now() }).execute();
        },
      };
    },
  };
}

interface Taking {
  readonly key: ReturnType<typeof toPullRequestRow> & { readonly action: ActionName };
  readonly claim: string;
  readonly headSha: string | undefined;
  readonly at: number;
}

/** @returns The attempt before, when its outcome is not known. */
async function take(database: Database, { key, claim, headSha, at }: Taking): Promise<LostAttempt | undefined> {
  return inTransaction(database, async (transaction) => {
    const found = await transaction
      .selectFrom('action_attempts')
      .select(['head_sha', 'began_at', 'lease_until'])
      .where((is) => is.and(key))
      .executeTakeFirst();
    if (found !== undefined && found.lease_until > at) throw refuse('in_progress');
    const lease = { claim, lease_until: at + LEASE_MS };
    await transaction
      .insertInto('action_attempts')
      .values({ ...key, ...lease, head_sha: headSha ?? null, began_at: at })
      .onConflict((conflict) => conflict.columns(['person_id', 'forge', 'repo', 'number', 'action']).doUpdateSet(lease))
      .execute();
    return found && { headSha: found.head_sha ?? undefined, beganAt: found.began_at };
  });
}

/** Deletes what nobody asks about any more. */
export async function sweepAttempts(database: Database, at: number): Promise<void> {
  await database
    .deleteFrom('action_attempts')
    .where('lease_until', '<=', at - KEEP_MS)
    .execute();
}
