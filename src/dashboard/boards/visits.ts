import { AppError } from '@trellis/core/errors';
import { type Caller, requireSession } from '../../accounts/callers.js';
import { type Database, inTransaction } from '../../storage/database.js';
import { sql } from '../../storage/kysely.js';
import { type PullRequest, pullRequestKey } from '../forges/forge.js';
import { type BoardChanges, findBoardState } from './board-changes.js';

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

export interface Change extends State {
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
