import type { Database } from '../../storage/database.js';
import type { PullRequestMarksTable } from '../../storage/tables.js';
import type { ForgeName } from '../forges/forge.js';

export interface RepositoryAddress {
  readonly personId: string;
  readonly forge: ForgeName;
  readonly fullName: string;
}

/** A pull request on a user's board. */
export interface PullRequestAddress extends RepositoryAddress {
  readonly number: number;
}

export type StateKind = PullRequestMarksTable['kind'];

export interface StateEntry {
  readonly kind: StateKind;
  readonly state: object;
  /** In milliseconds; omitted for entries that don't expire. */
  readonly expiresAt?: number;
}

export const toRepositoryRow = ({ personId, forge, fullName }: RepositoryAddress) => ({
  person_id: personId,
  forge,
  repo: fullName.toLowerCase(),
});

export const toPullRequestRow = (address: PullRequestAddress) => ({
  ...toRepositoryRow(address),
  number: address.number,
});

/**
 * Records that a repository has sent an authenticated webhook delivery.
 *
 * @returns whether it is the first one, which the board does not show yet.
 */
export async function recordFirstDelivery(
  database: Database,
  address: RepositoryAddress,
  at: number,
): Promise<boolean> {
  const unmarked = { ignored_prs: 0, ignored_issues: 0, auto_update_branch: 0 };
  const marked = await database
    .insertInto('repository_marks')
    .values({ ...toRepositoryRow(address), ...unmarked, webhook_seen_at: at })
    .onConflict((conflict) =>
      conflict
        .columns(['person_id', 'forge', 'repo'])
        .doUpdateSet({ webhook_seen_at: at })
        .where('repository_marks.webhook_seen_at', 'is', null),
    )
    .returning('repo')
    .executeTakeFirst();
  return marked !== undefined;
}

/** Saves a state entry of a pull request. Replaces an entry of the same kind. */
export async function saveState(database: Database, address: PullRequestAddress, mark: StateEntry): Promise<void> {
  const { kind, state, expiresAt = null } = mark;
  const change = { state: JSON.stringify(state), expires_at: expiresAt };
  await database
    .insertInto('pull_request_marks')
    .values({ ...toPullRequestRow(address), kind, ...change })
    .onConflict((conflict) => conflict.columns(['person_id', 'forge', 'repo', 'number', 'kind']).doUpdateSet(change))
    .execute();
}

/** Updates a state entry if it exists, so that an entry that was removed concurrently is not restored. */
export async function updateState(database: Database, address: PullRequestAddress, mark: StateEntry): Promise<void> {
  const { kind, state, expiresAt = null } = mark;
  await database
    .updateTable('pull_request_marks')
    .set({ state: JSON.stringify(state), expires_at: expiresAt })
    .where((is) => is.and({ ...toPullRequestRow(address), kind }))
    .execute();
}

/** Returns the state of an entry; `undefined` if it does not exist or has expired. */
export async function findState(
  database: Database,
  address: PullRequestAddress,
  { kind, at }: { readonly kind: StateKind; readonly at: number },
): Promise<unknown> {
  const row = await database
    .selectFrom('pull_request_marks')
    .select(['state', 'expires_at'])
    .where((is) => is.and({ ...toPullRequestRow(address), kind }))
    .executeTakeFirst();
  return row === undefined || (row.expires_at ?? Infinity) <= at ? undefined : JSON.parse(row.state);
}

export async function deleteState(database: Database, address: PullRequestAddress, kind: StateKind): Promise<void> {
  await database
    .deleteFrom('pull_request_marks')
    .where((is) => is.and({ ...toPullRequestRow(address), kind }))
    .execute();
}

/** Deletes expired state entries. */
export async function deleteExpiredState(database: Database, at: number): Promise<void> {
  await database.deleteFrom('pull_request_marks').where('expires_at', '<=', at).execute();
}
