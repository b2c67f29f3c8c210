/** How the person of a board looks at it: what they have seen, and what they set aside. */
import { sql } from 'kysely';
import type { Database } from '../storage/database.js';
import type { SnoozesTable } from '../storage/tables.js';
import { pullRequestKey } from './actions/marks.js';
import type { ForgeName } from './forges/facts.js';
import type { Change, Changes } from './pull-request-changes.js';

export interface BoardReader {
  /** The time of the newest board that they have seen; `undefined` before the first visit. */
  readonly seenAt: number | undefined;
  /** By the key of the pull request. */
  readonly snoozes: ReadonlyMap<string, Snooze>;
}

export interface Snooze {
  /** In milliseconds; `undefined` when only a change ends it. */
  readonly until: number | undefined;
  readonly untilChange: boolean;
  /** When the pull request had last changed as it was set aside. */
  readonly changedAt: number;
}

export async function readBoardReader(database: Database, personId: string): Promise<BoardReader> {
  const reader = database.selectFrom('board_readers').select('seen_at').where('person_id', '=', personId);
  const seenAt = (await reader.executeTakeFirst())?.seen_at ?? undefined;
  const rows = await listSnoozes(database, personId);
  return { seenAt, snoozes: new Map(rows.map((row) => [keyOfRow(row), toSnooze(row)])) };
}

async function listSnoozes(database: Database, personId: string): Promise<SnoozesTable[]> {
  return database.selectFrom('snoozes').selectAll().where('person_id', '=', personId).execute();
}

/** Only forges that the contract knows are stored. */
const keyOfRow = ({ forge, repo, number }: SnoozesTable): string => pullRequestKey(forge as ForgeName, repo, number);

function toSnooze({ until, until_change, changed_at }: SnoozesTable): Snooze {
  return { until: until ?? undefined, untilChange: until_change === 1, changedAt: changed_at };
}

/** Whether a snooze still holds; `change` is the last one of its pull request, `undefined` when that is gone. */
export function holds({ until, untilChange, changedAt }: Snooze, change: Change | undefined, at: number): boolean {
  if (change === undefined || (until !== undefined && until <= at)) return false;
  return !(untilChange && change.at > changedAt);
}

/** Says that the person's board looks different to them from now on; in the transaction that makes it so. */
export async function moveRevision(transaction: Database, personId: string): Promise<void> {
  await transaction
    .insertInto('board_readers')
    .values({ person_id: personId, seen_at: null, revision: 1 })
    .onConflict((conflict) => conflict.column('person_id').doUpdateSet({ revision: sql`board_readers.revision + 1` }))
    .execute();
}

/** Forgets snoozes that have ended, so that none begins again when what ended it is undone. */
export async function sweepSnoozes(
  transaction: Database,
  personId: string,
  { changes, at }: { readonly changes: Changes; readonly at: number },
): Promise<void> {
  const rows = await listSnoozes(transaction, personId);
  const over = rows.filter((row) => !holds(toSnooze(row), changes[keyOfRow(row)], at));
  for (const { forge, repo, number } of over) {
    const own = transaction.deleteFrom('snoozes').where('person_id', '=', personId).where('forge', '=', forge);
    await own.where('repo', '=', repo).where('number', '=', number).execute();
  }
  if (over.length > 0) await moveRevision(transaction, personId);
}
