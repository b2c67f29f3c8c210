import { randomUUID } from 'node:crypto';
import { type Database, inTransaction } from '../../storage/database.js';
import type { ActionName } from '../forges/forge.js';
import { actionConflict } from './action-errors.js';
import { type PullRequestAddress, toPullRequestRow } from './state-entries.js';

/** Renewed while an action is sent. After a crash, other attempts wait at most this long. */
const LEASE_MS = 60_000;
const RENEW_MS = 20_000;

/** The board shows the outcome long before that. */
const RETENTION_MS = 86_400_000;

/** An earlier attempt that may have been sent, with an unknown outcome. */
export interface UnconfirmedAttempt {
  /** The head commit at that time, if it was known. */
  readonly headSha: string | undefined;
  readonly startedAt: number;
}

/** The exclusive right, across all processes, to send one action. */
export interface Attempt {
  readonly unconfirmed: UnconfirmedAttempt | undefined;
  /** Replaces the record of an unconfirmed attempt by this one, before the action is sent again. */
  restart(): Promise<void>;
  /** Ends the attempt with a known outcome. */
  complete(): Promise<void>;
  /** Ends the attempt with an unknown outcome, which the next attempt has to check first. */
  leaveUnconfirmed(): Promise<void>;
}

/** The actions that are being sent to forges: at most one attempt at a time per action and pull request. */
export interface Attempts {
  /** @throws AppError `conflict` (`in_progress`) while another attempt is in progress. */
  begin(address: PullRequestAddress, action: ActionName, headSha: string | undefined): Promise<Attempt>;
}

export function createAttempts(database: Database, now: () => number = Date.now): Attempts {
  return {
    async begin(address, action, headSha) {
      const key = { ...toPullRequestRow(address), action };
      const claim = randomUUID();
      const lost = await claimAttempt(database, { key, claim, headSha, at: now() });
      const own = database.updateTable('action_attempts').where('claim', '=', claim);
      const renewal = setInterval(() => void renew().catch(() => undefined), RENEW_MS).unref();
      const renew = () => own.set({ lease_until: now() + LEASE_MS }).execute();
      return {
        unconfirmed: lost,
        async restart() {
          await own.set({ head_sha: headSha ?? null, began_at: now() }).execute();
        },
        async complete() {
          clearInterval(renewal);
          await database.deleteFrom('action_attempts').where('claim', '=', claim).execute();
        },
        async leaveUnconfirmed() {
          clearInterval(renewal);
          await own.set({ lease_until: now() }).execute();
        },
      };
    },
  };
}

interface Claim {
  readonly key: ReturnType<typeof toPullRequestRow> & { readonly action: ActionName };
  readonly claim: string;
  readonly headSha: string | undefined;
  readonly at: number;
}

/** @returns the previous attempt if its outcome is unknown. */
async function claimAttempt(
  database: Database,
  { key, claim, headSha, at }: Claim,
): Promise<UnconfirmedAttempt | undefined> {
  return inTransaction(database, async (transaction) => {
    const found = await transaction
      .selectFrom('action_attempts')
      .select(['head_sha', 'began_at', 'lease_until'])
      .where((is) => is.and(key))
      .executeTakeFirst();
    if (found !== undefined && found.lease_until > at) throw actionConflict('in_progress');
    const lease = { claim, lease_until: at + LEASE_MS };
    await transaction
      .insertInto('action_attempts')
      .values({ ...key, ...lease, head_sha: headSha ?? null, began_at: at })
      .onConflict((conflict) => conflict.columns(['person_id', 'forge', 'repo', 'number', 'action']).doUpdateSet(lease))
      .execute();
    return found && { headSha: found.head_sha ?? undefined, startedAt: found.began_at };
  });
}

/** Deletes unconfirmed attempts that are too old to matter. */
export async function deleteExpiredAttempts(database: Database, at: number): Promise<void> {
  await database
    .deleteFrom('action_attempts')
    .where('lease_until', '<=', at - RETENTION_MS)
    .execute();
}
