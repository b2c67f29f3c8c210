/** The board owner's own state: the newest board that they have seen, and their snoozes. */
import { sql } from 'kysely';
import type { Database } from '../storage/database.js';
import type { SnoozesTable } from '../storage/tables.js';
import { pullRequestKey } from './actions/local-state.js';
import type { ForgeName } from './forges/forge.js';
import type { Change, Changes } from './pull-request-changes.js';

export interface OwnerState {
  /** The `generatedAt` of the newest board that they have seen, in milliseconds; `undefined` before the first visit. */
  readonly seenAt: number | undefined;
  /** Keyed by {@link pullRequestKey}. */
  readonly snoozes: ReadonlyMap<string, Snooze>;
}

export interface Snooze {
  /** In milliseconds; `undefined` if only a change of the pull request ends the snooze. */
  readonly until: number | undefined;
  readonly untilChange: boolean;
  /** The time of the pull request's last change before it was snoozed, in milliseconds. */
  readonly changedAt: number;
}

export async function readOwnerState(database: Database, personId: string): Promise<OwnerState> {
  const reader = database.selectFrom('board_readers').select('seen_at').where('person_id', '=', personId);
  const seenAt = (await reader.executeTakeFirst())?.seen_at ?? undefined;
  const rows = await listSnoozes(database, personId);
  return { seenAt, snoozes: new Map(rows.map((row) => [keyOfRow(row), toSnooze(row)])) };
}

async function listSnoozes(database: Database, personId: string): Promise<SnoozesTable[]> {
  return database.selectFrom('snoozes').selectAll().where('person_id', '=', personId).execute();
}

// The cast is safe: only forge names of the contract are stored.
const keyOfRow = ({ forge, repo, number }: SnoozesTable): string => pullRequestKey(forge as ForgeName, repo, number);

function toSnooze({ until, until_change, changed_at }: SnoozesTable): Snooze {
  return { until: until ?? undefined, untilChange: until_change === 1, changedAt: changed_at };
}

/**
 * Returns whether a snooze is in effect.
 *
 * @param change The last change of its pull request, `undefined` if the board no longer lists it.
 */
export function isSnoozed({ until, untilChange, changedAt }: Snooze, change: Change | undefined, at: number): boolean {
  if (change === undefined || (until !== undefined && until <= at)) return false;
  return !(untilChange && change.at > changedAt);
}

/** Records that the user's own board changed. Call it in the transaction that makes the change. */
export async function bumpRevision(transaction: Database, personId: string): Promise<void> {
  await transaction
    .insertInto('board_readers')
    .values({ person_id: personId, seen_at: null, revision: 1 })
    .onConflict((conflict) => conflict.column('person_id').doUpdateSet({ revision: sql`board_readers.revision + 1` }))
    .execute();
}

/** Deletes snoozes that have ended, so that none takes effect again if the cause of its end is undone. */
export async function deleteEndedSnoozes(
  transaction: Database,
  personId: string,
  { changes, at }: { readonly changes: Changes; readonly at: number },
): Promise<void> {
  const rows = await listSnoozes(transaction, personId);
  const ended = rows.filter((row) => !isSnoozed(toSnooze(row), changes[keyOfRow(row)], at));
  for (const { forge, repo, number } of ended) {
    const own = transaction.deleteFrom('snoozes').where('person_id', '=', personId).where('forge', '=', forge);
    await own.where('repo', '=', repo).where('number', '=', number).execute();
  }
  if (ended.length > 0) await bumpRevision(transaction, personId);
}
