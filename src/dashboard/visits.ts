import { sql } from 'kysely';
import type { Caller } from '../accounts/callers.js';
import { requireSession } from '../accounts/scopes.js';
import { AppError } from '../errors.js';
import { inTransaction } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import { findBoardState } from './board-state.js';
import type { Boards } from './boards.js';

/** How far people have read their own boards. */
export interface Visits {
  /**
   * Keeps that the caller has seen the board of a time, or the newest when there is none as late. An older one than
   * they have seen changes nothing.
   *
   * @throws AppError `session_required` for a token, which sees nothing, `invalid_input` for a date that is none.
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
      const time = requireTime(seenAt);
      const hasMoved = await inTransaction(database, (transaction) => moveVisit(transaction, personId, time));
      if (hasMoved) boards.notify(personId);
    },
  };
}

function requireTime(date: Date): number {
  const time = date.getTime();
  if (!Number.isNaN(time)) return time;
  throw new AppError('invalid_input', 'Expected seenAt to be a date and a time.', { field: 'seenAt' });
}

/** @returns whether it moved: a visit that changes nothing must make no other board, for pages visit every board. */
async function moveVisit(transaction: Database, personId: string, time: number): Promise<boolean> {
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
