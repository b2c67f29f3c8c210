import type { Database } from '../../storage/database.js';
import type { PullRequestMarksTable } from '../../storage/tables.js';
import type { ForgeName } from '../forges/facts.js';

export interface RepositoryAddress {
  readonly personId: string;
  readonly forge: ForgeName;
  readonly fullName: string;
}

/** A pull request on somebody's board. */
export interface PullRequestAddress extends RepositoryAddress {
  readonly number: number;
}

export type MarkKind = PullRequestMarksTable['kind'];

export interface Mark {
  readonly kind: MarkKind;
  readonly state: object;
  /** In milliseconds; left out for what somebody has to end. */
  readonly expiresAt?: number | undefined;
}

/** A board follows 2,000 repositories of each of three forges at most; nobody has that many to say something of. */
export const MAX_MARKED_REPOSITORIES = 6_000;

export const toRepositoryRow = ({ personId, forge, fullName }: RepositoryAddress) => ({
  person_id: personId,
  forge,
  repo: fullName.toLowerCase(),
});

export const toPullRequestRow = (address: PullRequestAddress) => ({
  ...toRepositoryRow(address),
  number: address.number,
});

/** Keeps that a delivery of a repository has proved to be the forge's. */
export async function markWebhookSeen(database: Database, address: RepositoryAddress, at: number): Promise<void> {
  await database
    .insertInto('repository_marks')
    .values({
      ...toRepositoryRow(address),
      ignored_prs: 0,
      ignored_issues: 0,
      auto_update_branch: 0,
      webhook_seen_at: at,
    })
    .onConflict((conflict) => conflict.columns(['person_id', 'forge', 'repo']).doUpdateSet({ webhook_seen_at: at }))
    .execute();
}

/** Keeps a mark of a pull request, in place of the one of its kind. */
export async function saveMark(database: Database, address: PullRequestAddress, mark: Mark): Promise<void> {
  const { kind, state, expiresAt = null } = mark;
  const change = { state: JSON.stringify(state), expires_at: expiresAt };
  await database
    .insertInto('pull_request_marks')
    .values({ ...toPullRequestRow(address), kind, ...change })
    .onConflict((conflict) => conflict.columns(['person_id', 'forge', 'repo', 'number', 'kind']).doUpdateSet(change))
    .execute();
}

export async function removeMark(database: Database, address: PullRequestAddress, kind: MarkKind): Promise<void> {
  const row = toPullRequestRow(address);
  await database
    .deleteFrom('pull_request_marks')
    .where('person_id', '=', row.person_id)
    .where('forge', '=', row.forge)
    .where('repo', '=', row.repo)
    .where('number', '=', row.number)
    .where('kind', '=', kind)
    .execute();
}
