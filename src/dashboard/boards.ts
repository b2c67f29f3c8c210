import type { Caller } from '../accounts/callers.js';
import { requirePerson } from '../accounts/scopes.js';
import type { PersonCaller } from '../accounts/scopes.js';
import { AppError } from '../errors.js';
import type { Database } from '../storage/database.js';
import { toUsernameKey } from '../storage/username-key.js';
import { EMPTY_SNAPSHOT, toBoard } from './board.js';
import type { Board, Snapshot } from './board.js';

export interface BoardRequest {
  /** Whose board, when its owner shares it; by default the caller's own. */
  readonly owner?: string | undefined;
  readonly includeDrafts?: boolean | undefined;
}

export interface Boards {
  /**
   * Gives the board as it was when last refreshed; it never waits for a forge.
   * Before the first refresh it is empty and as old as the account.
   *
   * @throws AppError `not_found` when there is no such owner, `forbidden` when they don't share.
   */
  read(caller: Caller | undefined, request: BoardRequest): Promise<Board>;
  /** Replaces a person's board by what a refresh found. */
  save(personId: string, snapshot: Snapshot): Promise<void>;
  /** Lets another person read the whole board. */
  share(ownerId: string, viewerId: string): Promise<void>;
}

export function createBoards(database: Database, now: () => number = Date.now): Boards {
  return {
    async read(caller, { owner, includeDrafts = false }) {
      const ownerId = await requireOwnerId(database, requirePerson(caller), owner);
      const { snapshot, generatedAt } = await readSnapshot(database, ownerId);
      return toBoard(snapshot, { generatedAt, includeDrafts, at: now() });
    },
    async save(personId, snapshot) {
      const row = { generated_at: now(), snapshot: JSON.stringify(snapshot) };
      await database
        .insertInto('boards')
        .values({ person_id: personId, ...row })
        .onConflict((conflict) => conflict.column('person_id').doUpdateSet(row))
        .execute();
    },
    async share(ownerId, viewerId) {
      const row = { owner_id: ownerId, viewer_id: viewerId };
      await database
        .insertInto('board_shares')
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },
  };
}

async function requireOwnerId(database: Database, { personId }: PersonCaller, username?: string): Promise<string> {
  if (username === undefined) return personId;
  const owner = await database
    .selectFrom('people')
    .leftJoin('board_shares', (join) => join.onRef('owner_id', '=', 'people.id').on('viewer_id', '=', personId))
    .select(['people.id', 'viewer_id'])
    .where('username_key', '=', toUsernameKey(username))
    .executeTakeFirst();
  if (owner === undefined) throw new AppError('not_found', 'Expected the name of a user; there is none of this name.');
  if (owner.id === personId || owner.viewer_id !== null) return owner.id;
  throw new AppError('forbidden', 'Expected a board that its owner shares with you; this one is not.');
}

async function readSnapshot(
  database: Database,
  personId: string,
): Promise<{ readonly snapshot: Snapshot; readonly generatedAt: number }> {
  const row = await database
    .selectFrom('people')
    .leftJoin('boards', 'person_id', 'people.id')
    .select(['snapshot', 'generated_at', 'created_at'])
    .where('people.id', '=', personId)
    .executeTakeFirstOrThrow();
  const snapshot = row.snapshot === null ? EMPTY_SNAPSHOT : (JSON.parse(row.snapshot) as Snapshot);
  return { snapshot, generatedAt: row.generated_at ?? row.created_at };
}
