import { AppError } from '@trellis/core/errors';
import { type Caller, requireUser, requireSession } from '../../accounts/callers.js';
import { type Database, inTransaction } from '../../storage/database.js';
import { sql } from '../../storage/kysely.js';
import type { SnoozesTable } from '../../storage/tables.js';
import { type ForgeName, pullRequestKey, type PullRequest } from '../forges/forge.js';
import { toPullRequestRow } from '../pull-requests/state-entries.js';
import { type BoardChanges, findBoardState } from './board-changes.js';

const MAX_DAYS = 366;
const DAY_MS = 86_400_000;

interface Reference {
  readonly forge: ForgeName;
  readonly fullName: string;
  readonly number: number;
}

interface NewSnooze extends Reference {
  /** The latest end of the snooze. */
  readonly until?: Date;
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

interface SnoozesOptions {
  readonly database: Database;
  readonly boards: Pick<BoardChanges, 'notify'>;
  readonly now?: () => number;
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

/** The board owner's own state: the newest board that they have seen, and their snoozes. */
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
async function bumpRevision(transaction: Database, personId: string): Promise<void> {
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

/** Records the newest board that each user has seen. */
export interface Visits {
  /**
   * Records that the caller has seen their board of the given time. Later times than that of the newest board count as
   * that time. Earlier times than the recorded one change nothing.
   *
   * @throws AppError `session_required` for a token, `invalid_input` for an invalid date.
   */
  save(caller: Caller | undefined, seenAt: Date): Promise<void>;
}

interface VisitsOptions {
  readonly database: Database;
  readonly boards: Pick<BoardChanges, 'notify'>;
}

export function createVisits({ database, boards }: VisitsOptions): Visits {
  return {
    async save(caller, seenAt) {
      const { personId } = requireSession(caller);
      const time = getTime(seenAt);
      const isChanged = await inTransaction(database, (transaction) => saveVisit(transaction, personId, time));
      if (isChanged) boards.notify(personId);
    },
  };
}

function getTime(date: Date): number {
  const time = date.getTime();
  if (!Number.isNaN(time)) return time;
  throw new AppError('invalid_input', 'Expected seenAt to be a date and time.', { field: 'seenAt' });
}

/**
 * Returns whether the visit changed anything. Pages send a visit for every board, so a visit without effect must not
 * create a new board version.
 */
async function saveVisit(transaction: Database, personId: string, time: number): Promise<boolean> {
  const state = await findBoardState(transaction, personId);
  const newest = state?.generated_at ?? state?.created_at ?? time;
  const seenAt = Math.min(time, newest);
  const readers = transaction.insertInto('board_readers').values({ person_id: personId, seen_at: seenAt, revision: 1 });
  const { numInsertedOrUpdatedRows = 0n } = await readers
    .onConflict((conflict) =>
      conflict
        .column('person_id')
        .doUpdateSet({ seen_at: seenAt, revision: sql`board_readers.revision + 1` })
        .where((row) => row.or([row('board_readers.seen_at', 'is', null), row('board_readers.seen_at', '<', seenAt)])),
    )
    .executeTakeFirst();
  return numInsertedOrUpdatedRows > 0n;
}

/** The values whose changes are relevant. Values that the forge doesn't currently report are missing. */
interface State {
  readonly updatedAt: string;
  readonly ci?: PullRequest['ci'];
  readonly headSha?: string;
  readonly decision?: string;
  readonly isConflicting?: boolean;
}

interface Change extends State {
  /** The time of the first board with this state, in milliseconds. */
  readonly at: number;
}

/** The last relevant change of each pull request on a board, keyed by {@link pullRequestKey}. */
export type Changes = Readonly<Record<string, Change>>;

export const toPullRequestKey = ({ forge, repo, number }: Pick<PullRequest, 'forge' | 'number' | 'repo'>): string =>
  pullRequestKey(forge, repo, number);

/** Returns the changes of the next board, given those of the previous one. New pull requests count as changed. */
export function updateLastChanged(before: Changes, pullRequests: readonly PullRequest[], at: number): Changes {
  return Object.fromEntries(
    pullRequests.map((one) => {
      const key = toPullRequestKey(one);
      return [key, noteChange(before[key], toState(one), at)];
    }),
  );
}

function noteChange(last: Change | undefined, state: State, at: number): Change {
  if (last === undefined) return { ...state, at };
  // Values that are missing now keep their last known state.
  return { ...last, ...state, at: isChange(last, state) ? at : last.at };
}

function toState({ headSha, updatedAt, ci, ciKnown, review, mergeStatus }: PullRequest): State {
  return {
    updatedAt,
    ...(ciKnown === false ? {} : { ci }),
    ...(headSha === '' ? {} : { headSha }),
    ...(review && { decision: review.decision }),
    // The other merge states follow from checks and reviews, which are compared separately.
    ...(mergeStatus === 'unknown' ? {} : { isConflicting: mergeStatus === 'conflicting' }),
  };
}

/** Checks that start are not a change; only their result is. */
function isChange(last: State, now: State): boolean {
  return (
    Date.parse(last.updatedAt) !== Date.parse(now.updatedAt) ||
    (differs(last.ci, now.ci) && now.ci !== 'pending') ||
    (['headSha', 'decision', 'isConflicting'] as const).some((part) => differs(last[part], now[part]))
  );
}

/** A value that becomes known for the first time has not changed. */
function differs(last: unknown, now: unknown): boolean {
  return last !== undefined && now !== undefined && last !== now;
}
