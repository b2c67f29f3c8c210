import { sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../accounts/callers.js';
import { requirePerson } from '../accounts/scopes.js';
import type { PersonCaller } from '../accounts/scopes.js';
import { AppError } from '../errors.js';
import { inTransaction } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import { prepare } from '../storage/prepared.js';
import { toUsernameKey } from '../storage/username-key.js';
import { EMPTY_SNAPSHOT, arrange, showBoard } from './board.js';
import type { ArrangedSnapshot, Board, Snapshot } from './board.js';
import { createBoardChanges } from './board-changes.js';
import type { BoardChanges, BoardFollower } from './board-changes.js';

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
  /** Replaces a person's board by what a refresh found. No two of a person's boards have the same time. */
  save(personId: string, snapshot: Snapshot): Promise<void>;
  /** The same with what is made in one transaction, in which the rest of a refresh may be kept too; `undefined` is no board. */
  compose(personId: string, make: (transaction: Database) => Promise<Snapshot | undefined>): Promise<void>;
  /** The time of a person's board in milliseconds, which every change moves on; `undefined` when they are gone. */
  findTime(personId: string): Promise<number | undefined>;
  /** Tells of boards that are saved in this process. */
  follow(personId: string): BoardFollower;
}

/** Boards that were read lately; the largest have some hundred thousand characters, and take three times that as objects. */
const MAX_KEPT_CHARACTERS = 20_000_000;

interface Kept {
  readonly generatedAt: number | null;
  readonly snapshot: ArrangedSnapshot;
}

export function createBoards(
  database: Database,
  now: () => number = Date.now,
  changes: BoardChanges = createBoardChanges(),
): Boards {
  const kept = new LRUCache<string, Kept>({ maxSize: MAX_KEPT_CHARACTERS });
  return {
    async read(caller, { owner, includeDrafts = false }) {
      const ownerId = await requireOwnerId(database, requirePerson(caller), owner);
      const { snapshot, generatedAt } = await readSnapshot(database, ownerId, kept);
      return showBoard(snapshot, { generatedAt, includeDrafts, at: now() });
    },
    async save(personId, snapshot) {
      await saveSnapshot(database, { personId, snapshot, at: now() });
      changes.notify(personId);
    },
    async compose(personId, make) {
      await inTransaction(database, async (transaction) => {
        const snapshot = await make(transaction);
        if (snapshot !== undefined) await saveSnapshot(transaction, { personId, snapshot, at: now() });
      });
      // Only now can it be read.
      changes.notify(personId);
    },
    async findTime(personId) {
      const row = await findTimes(database, personId).executeTakeFirst();
      return row && (row.generated_at ?? row.created_at);
    },
    follow: (personId) => changes.follow(personId),
  };
}

interface NewBoard {
  readonly personId: string;
  readonly snapshot: Snapshot;
  readonly at: number;
}

async function saveSnapshot(database: Database, { personId, snapshot, at }: NewBoard): Promise<void> {
  const row = { generated_at: at, snapshot: JSON.stringify(snapshot) };
  const later = sql<number>`case when boards.generated_at < ${at} then ${at} else boards.generated_at + 1 end`;
  await database
    .insertInto('boards')
    .values({ person_id: personId, ...row })
    .onConflict((conflict) => conflict.column('person_id').doUpdateSet({ ...row, generated_at: later }))
    .execute();
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

function findTimes(database: Database, personId: string) {
  return database
    .selectFrom('people')
    .leftJoin('boards', 'person_id', 'people.id')
    .select(['generated_at', 'created_at'])
    .where('people.id', '=', personId);
}

const findPreparedTimes = prepare((database, { personId }: { readonly personId: string }) =>
  findTimes(database, personId),
);

/** A board is read anew when its time is another: no two of a person have the same. */
async function readSnapshot(
  database: Database,
  personId: string,
  kept: LRUCache<string, Kept>,
): Promise<{ readonly snapshot: ArrangedSnapshot; readonly generatedAt: number }> {
  const [times] = await findPreparedTimes(database, { personId });
  const known = kept.get(personId);
  if (times !== undefined && known?.generatedAt === times.generated_at) {
    return { snapshot: known.snapshot, generatedAt: times.generated_at ?? times.created_at };
  }
  const row = await findTimes(database, personId).select('snapshot').executeTakeFirstOrThrow();
  const snapshot = arrange(row.snapshot === null ? EMPTY_SNAPSHOT : (JSON.parse(row.snapshot) as Snapshot));
  kept.set(personId, { generatedAt: row.generated_at, snapshot }, { size: row.snapshot?.length ?? 1 });
  return { snapshot, generatedAt: row.generated_at ?? row.created_at };
}
