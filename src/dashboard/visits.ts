import { sql } from 'kysely';
import type { Caller } from '../accounts/callers.js';
import { requireSession } from '../accounts/callers.js';
import { AppError } from '../core/errors.js';
import { inTransaction } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import { findBoardState } from './board-state.js';
import type { Boards } from './boards.js';

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

export interface VisitsOptions {
  readonly database: Database;
  readonly boards: Boards;
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
