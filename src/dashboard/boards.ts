import type { Caller } from '../accounts/callers.js';
import { requireUser } from '../accounts/callers.js';
import { inTransaction } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import type { Board, BoardSnapshot } from './board.js';
import { createBoardCache } from './board-cache.js';
import type { BoardOptions } from './board-cache.js';
import { createBoardChanges } from './board-changes.js';
import type { BoardChanges, BoardSubscription } from './board-changes.js';
import { getBoardOwnerId } from './board-owner.js';
import { deleteEndedSnoozes } from './owner-state.js';
import { findBoardVersion } from './board-state.js';
import type { BoardVersion } from './board-state.js';
import { updateLastChanged } from './pull-request-changes.js';
import type { Changes } from './pull-request-changes.js';
import { setOpenCount } from './insights/daily-counts.js';

export interface BoardRequest extends BoardOptions {
  /** The username of an owner who shares their board; by default the caller. */
  readonly owner?: string | undefined;
}

export interface Boards {
  /**
   * Returns the board of the last refresh, without waiting for a forge. Before the first refresh it is empty and as
   * old as the account. The board is frozen, and the same object is returned until it changes.
   *
   * @throws AppError `not_found` for an unknown owner, or an unknown view of the caller, `forbidden` if the owner
   * doesn't share the board with the caller.
   */
  read(caller: Caller | undefined, request: BoardRequest): Promise<Board>;
  /** Returns the user's own board without a caller, for the readers of the user's feeds. */
  readOwn(personId: string, options: BoardOptions): Promise<Board>;
  /** Replaces the user's board. Each board of a user has a later time than its predecessor. */
  save(personId: string, snapshot: BoardSnapshot): Promise<void>;
  /**
   * Replaces the user's board by the snapshot that `make` returns. `make` runs in the same transaction and can store
   * other results of the refresh in it. The board stays unchanged if it returns `undefined`.
   */
  compose(personId: string, make: (transaction: Database) => Promise<BoardSnapshot | undefined>): Promise<void>;
  /** Returns a version that changes whenever the user's own board does; `undefined` if the user does not exist. */
  findVersion(personId: string): Promise<BoardVersion | undefined>;
  /** Notifies the subscribers of the user's board in this process. */
  notify(personId: string): void;
  /** Subscribes to the user's board. The caller must close the subscription. */
  subscribe(personId: string): BoardSubscription;
}

export function createBoards(
  database: Database,
  now: () => number = Date.now,
  changes: BoardChanges = createBoardChanges(),
): Boards {
  const readBoard = createBoardCache(database, now);
  const compose: Boards['compose'] = async (personId, make) => {
    await inTransaction(database, async (transaction) => {
      const snapshot = await make(transaction);
      if (snapshot !== undefined) await saveSnapshot(transaction, { personId, snapshot, at: now() });
    });
    // Subscribers can read the board only after the commit.
    changes.notify(personId);
  };
  return {
    async read(caller, { owner, ...options }) {
      const user = requireUser(caller);
      const ownerId = await getBoardOwnerId(database, user, owner);
      return readBoard({ ...options, readerId: user.personId, ownerId });
    },
    readOwn: (personId, options) => readBoard({ ...options, readerId: personId, ownerId: personId }),
    save: (personId, snapshot) => compose(personId, () => Promise.resolve(snapshot)),
    compose,
    findVersion: (personId) => findBoardVersion(database, personId, now()),
    notify: (personId) => changes.notify(personId),
    subscribe: (personId) => changes.subscribe(personId),
  };
}

interface NewBoard {
  readonly personId: string;
  readonly snapshot: BoardSnapshot;
  readonly at: number;
}

async function saveSnapshot(transaction: Database, { personId, snapshot, at }: NewBoard): Promise<void> {
  const boards = transaction.selectFrom('boards').select(['generated_at', 'changes']);
  const last = await boards.where('person_id', '=', personId).executeTakeFirst();
  // Always later than the last board, even if the clock was set back, because the time identifies the board.
  const time = Math.max(at, (last?.generated_at ?? 0) + 1);
  const changes = updateLastChanged(JSON.parse(last?.changes ?? '{}') as Changes, snapshot.pullRequests, time);
  const row = { generated_at: time, snapshot: JSON.stringify(snapshot), changes: JSON.stringify(changes) };
  await transaction
    .insertInto('boards')
    .values({ person_id: personId, ...row })
    .onConflict((conflict) => conflict.column('person_id').doUpdateSet(row))
    .execute();
  await deleteEndedSnoozes(transaction, personId, { changes, at });
  await setOpenCount(transaction, personId, { open: snapshot.pullRequests.length, at });
}
