import type { Caller } from '../accounts/callers.js';
import { requireUser } from '../accounts/scopes.js';
import { AppError } from '../core/errors.js';
import { inTransaction } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import { toPullRequestRow } from './actions/state-entries.js';
import { pullRequestKey } from './actions/local-state.js';
import { bumpRevision } from './owner-state.js';
import type { Boards } from './boards.js';
import type { ForgeName } from './forges/forge.js';
import type { Changes } from './pull-request-changes.js';

const MAX_DAYS = 366;
const DAY_MS = 86_400_000;

interface Reference {
  readonly forge: ForgeName;
  readonly fullName: string;
  readonly number: number;
}

export interface NewSnooze extends Reference {
  /** The latest end of the snooze. */
  readonly until?: Date | undefined;
  /** Whether the snooze also ends as soon as the pull request changes. */
  readonly untilChange: boolean;
}

/** Users' snoozes on their own boards. */
export interface Snoozes {
  /**
   * Snoozes a pull request. Replaces an earlier snooze of it.
   *
   * @throws AppError `invalid_input` if nothing would end the snooze, or `until` is in the past or more than 366 days
   * ahead, `not_found` if the pull request is not on the caller's board.
   */
  save(caller: Caller | undefined, snooze: NewSnooze): Promise<void>;
  /** Does nothing if the pull request is not snoozed. */
  delete(caller: Caller | undefined, pullRequest: Reference): Promise<void>;
}

export interface SnoozesOptions {
  readonly database: Database;
  readonly boards: Boards;
  readonly now?: (() => number) | undefined;
}

export function createSnoozes({ database, boards, now = Date.now }: SnoozesOptions): Snoozes {
  return {
    async save(caller, snooze) {
      const { personId } = requireUser(caller);
      assertEnds(snooze, now());
      await inTransaction(database, (transaction) => saveSnooze(transaction, personId, snooze));
      boards.notify(personId);
    },
    async delete(caller, reference) {
      const { personId } = requireUser(caller);
      await inTransaction(database, (transaction) => deleteSnooze(transaction, personId, reference));
      boards.notify(personId);
    },
  };
}

function assertEnds({ until, untilChange }: NewSnooze, at: number): void {
  if (until === undefined && untilChange) return;
  const end = until?.getTime() ?? NaN;
  // Comparisons with NaN are false, so an invalid date is rejected too.
  if (end > at && end <= at + MAX_DAYS * DAY_MS) return;
  const message = `Set until to a time within the next ${MAX_DAYS} days, or untilChange to true.`;
  throw new AppError('invalid_input', message, { field: 'until' });
}

async function saveSnooze(transaction: Database, personId: string, snooze: NewSnooze): Promise<void> {
  const row = toPullRequestRow({ personId, ...snooze });
  const change = {
    until: snooze.until?.getTime() ?? null,
    until_change: Number(snooze.untilChange),
    changed_at: await getChangedAt(transaction, personId, snooze),
  };
  await transaction
    .insertInto('snoozes')
    .values({ ...row, ...change })
    .onConflict((conflict) => conflict.columns(['person_id', 'forge', 'repo', 'number']).doUpdateSet(change))
    .execute();
  await bumpRevision(transaction, personId);
}

async function getChangedAt(transaction: Database, personId: string, reference: Reference): Promise<number> {
  const boards = transaction.selectFrom('boards').select('changes').where('person_id', '=', personId);
  const changes = JSON.parse((await boards.executeTakeFirst())?.changes ?? '{}') as Changes;
  const { forge, fullName, number } = reference;
  const change = changes[pullRequestKey(forge, fullName, number)];
  if (change !== undefined) return change.at;
  throw new AppError('not_found', `${fullName}#${number} is not on your board.`);
}

async function deleteSnooze(transaction: Database, personId: string, reference: Reference): Promise<void> {
  const { forge, repo, number } = toPullRequestRow({ personId, ...reference });
  const own = transaction.deleteFrom('snoozes').where('person_id', '=', personId).where('forge', '=', forge);
  const { numDeletedRows } = await own.where('repo', '=', repo).where('number', '=', number).executeTakeFirst();
  if (numDeletedRows > 0n) await bumpRevision(transaction, personId);
}
