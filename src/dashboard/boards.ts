import type { Caller } from '../accounts/callers.js';
import { requirePerson } from '../accounts/scopes.js';
import { inTransaction } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import type { Board, Snapshot } from './board.js';
import { createBoardAnswers } from './board-answers.js';
import type { BoardLook } from './board-answers.js';
import { createBoardChanges } from './board-changes.js';
import type { BoardChanges, BoardFollower } from './board-changes.js';
import { requireOwnerId } from './board-owner.js';
import { sweepSnoozes } from './board-reader.js';
import { findBoardVersion } from './board-state.js';
import type { BoardVersion } from './board-state.js';
import { noteChanges } from './pull-request-changes.js';
import type { Changes } from './pull-request-changes.js';
import { noteOpen } from './throughput/keep-days.js';

export interface BoardRequest extends BoardLook {
  /** Whose board, when its owner shares it; by default the caller's own. */
  readonly owner?: string | undefined;
}

export interface Boards {
  /**
   * Gives the board as it was when last refreshed; it never waits for a forge.
   * Before the first refresh it is empty and as old as the account. The board is
   * frozen: while nothing makes another of it, the same object is given again.
   *
   * @throws AppError `not_found` when there is no such owner, or no such view of
   * the caller, `forbidden` when the owner doesn't share.
   */
  read(caller: Caller | undefined, request: BoardRequest): Promise<Board>;
  /** The same for a person themselves, on behalf of whoever was let see their board. */
  readOwn(personId: string, look: BoardLook): Promise<Board>;
  /** Replaces a person's board by what a refresh found. No two of a person's boards have the same time. */
  save(personId: string, snapshot: Snapshot): Promise<void>;
  /** The same with what is made in one transaction, in which the rest of a refresh may be kept too; `undefined` is no board. */
  compose(personId: string, make: (transaction: Database) => Promise<Snapshot | undefined>): Promise<void>;
  /** What every change of a person's own board makes another; `undefined` when they are gone. */
  findVersion(personId: string): Promise<BoardVersion | undefined>;
  /** Tells whoever follows a person's board in this process that it looks different to them. */
  notify(personId: string): void;
  /** Tells of boards that are saved in this process. */
  follow(personId: string): BoardFollower;
}

export function createBoards(
  database: Database,
  now: () => number = Date.now,
  changes: BoardChanges = createBoardChanges(),
): Boards {
  const answer = createBoardAnswers(database, now);
  const compose: Boards['compose'] = async (personId, make) => {
    await inTransaction(database, async (transaction) => {
      const snapshot = await make(transaction);
      if (snapshot !== undefined) await saveSnapshot(transaction, { personId, snapshot, at: now() });
    });
    // Only now can it be read.
    changes.notify(personId);
  };
  return {
    async read(caller, { owner, ...look }) {
      const person = requirePerson(caller);
      const ownerId = await requireOwnerId(database, person, owner);
      return answer({ ...look, readerId: person.personId, ownerId });
    },
    readOwn: (personId, look) => answer({ ...look, readerId: personId, ownerId: personId }),
    save: (personId, snapshot) => compose(personId, () => Promise.resolve(snapshot)),
    compose,
    findVersion: (personId) => findBoardVersion(database, personId, now()),
    notify: (personId) => changes.notify(personId),
    follow: (personId) => changes.follow(personId),
  };
}

interface NewBoard {
  readonly personId: string;
  readonly snapshot: Snapshot;
  readonly at: number;
}

async function saveSnapshot(transaction: Database, { personId, snapshot, at }: NewBoard): Promise<void> {
  const boards = transaction.selectFrom('boards').select(['generated_at', 'changes']);
  const last = await boards.where('person_id', '=', personId).executeTakeFirst();
  // Later than the last, whatever the clock says: it is by its time that a board is known to be another.
  const time = Math.max(at, (last?.generated_at ?? 0) + 1);
  const changes = noteChanges(JSON.parse(last?.changes ?? '{}') as Changes, snapshot.pullRequests, time);
  const row = { generated_at: time, snapshot: JSON.stringify(snapshot), changes: JSON.stringify(changes) };
  await transaction
    .insertInto('boards')
    .values({ person_id: personId, ...row })
    .onConflict((conflict) => conflict.column('person_id').doUpdateSet(row))
    .execute();
  await sweepSnoozes(transaction, personId, { changes, at });
  await noteOpen(transaction, personId, { open: snapshot.pullRequests.length, at });
}
