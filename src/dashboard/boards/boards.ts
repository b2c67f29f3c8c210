import { singleFlight } from '@trellis/core/concurrency';
import { AppError } from '@trellis/core/errors';
import { LRUCache } from 'lru-cache';
import { type Caller, requireUser } from '../../accounts/callers.js';
import { type Database, inTransaction } from '../../storage/database.js';
import { setOpenCount } from '../insights/throughput.js';
import {
  type BoardChanges,
  type BoardState,
  type BoardSubscription,
  type BoardVersion,
  createBoardChanges,
  findBoardState,
  findBoardVersion,
  selectBoardStates,
} from './board-changes.js';
import {
  type Board,
  type BoardSnapshot,
  EMPTY_BOARD_SNAPSHOT,
  findExpiry,
  type PreparedSnapshot,
  prepareSnapshot,
  renderBoard,
} from './board.js';
import { type FirstRows, listsAll, toFirstRows } from './first-rows.js';
import { deleteEndedSnoozes, readOwnerState, type Changes, updateLastChanged } from './owner-state.js';
import { getBoardOwnerId } from './sharing.js';
import { findViewText, type View } from './views.js';

export interface BoardOptions {
  readonly includeDrafts?: boolean;
  readonly includeSnoozed?: boolean;
  /** The name of one of the caller's saved views. */
  readonly view?: string;
}

interface BoardRequest extends BoardOptions {
  /** The username of an owner who shares their board; by default the caller. */
  readonly owner?: string;
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
  /**
   * Returns the first rows of the caller's list of pull requests. `undefined` for an empty board, and if the filter that the
   * page has stored selects, sorts or groups the rows.
   */
  readFirstRows(caller: Caller, storedFilter: unknown): Promise<FirstRows | undefined>;
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

/** Called in the transaction that saves a board, before the previous board is replaced. */
export type OnBoardSaved = (transaction: Database, board: NewBoard) => Promise<void>;

export function createBoards(
  database: Database,
  now: () => number = Date.now,
  changes: BoardChanges = createBoardChanges(),
  onSaved: OnBoardSaved = () => Promise.resolve(),
): Boards {
  const readBoard = createBoardCache(database, now);
  const compose: Boards['compose'] = async (personId, make) => {
    await inTransaction(database, async (transaction) => {
      const snapshot = await make(transaction);
      if (snapshot === undefined) return;
      const board = { personId, snapshot, at: now() };
      await onSaved(transaction, board);
      await saveSnapshot(transaction, board);
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
    async readFirstRows(caller, storedFilter) {
      const { personId } = requireUser(caller);
      const filter = (storedFilter ?? {}) as Readonly<Record<string, unknown>>;
      if (!listsAll(filter)) return undefined;
      const options = { includeDrafts: filter.drafts === true, includeSnoozed: true };
      const board = await readBoard({ ...options, readerId: personId, ownerId: personId });
      return board.pullRequests.length === 0 ? undefined : toFirstRows(board);
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

interface BoardQuery extends BoardOptions {
  readonly readerId: string;
  readonly ownerId: string;
}

/**
 * Returns a rendered board: the same object for the same query until the board changes, so that callers can cache
 * derived values by identity.
 */
type BoardCache = (query: BoardQuery) => Promise<Board>;

/**
 * The size of each of the two caches, for snapshots and for rendered boards. The largest boards have a few million
 * characters of JSON, and take about three times as many bytes as objects.
 */
const MAX_CACHED_CHARACTERS = 20_000_000;

interface CachedBoard {
  readonly version: string;
  /** In milliseconds. */
  readonly expiresAt: number;
  readonly board: Board;
}

function createBoardCache(database: Database, now: () => number): BoardCache {
  const loadSnapshot = createSnapshotCache(database);
  const cache = new LRUCache<string, CachedBoard>({ maxSize: MAX_CACHED_CHARACTERS });
  const once = singleFlight<Board>();

  return async (query) => {
    const { ownerId, readerId } = query;
    const view = query.view === undefined ? '' : await getViewText(database, readerId, query.view);
    const state = await getState(database, ownerId);
    const [key, version] = [toKey(query), toVersion(state, view)];
    const cached = cache.get(key);
    if (cached?.version === version && now() < cached.expiresAt) return cached.board;
    return once(`${key} ${version}`, async () => {
      const { snapshot, size, ...newest } = await loadSnapshot(ownerId, state);
      const reader = ownerId === readerId ? await readOwnerState(database, ownerId) : undefined;
      const options = {
        generatedAt: newest.generated_at ?? newest.created_at,
        at: now(),
        includeDrafts: query.includeDrafts ?? false,
        includeSnoozed: query.includeSnoozed ?? false,
        reader,
        view: view === '' ? undefined : (JSON.parse(view) as View),
      };
      const board = renderBoard(snapshot, options);
      cache.set(key, { version: toVersion(newest, view), expiresAt: findExpiry(snapshot, options), board }, { size });
      return board;
    });
  };
}

const toKey = ({ readerId, ownerId, includeDrafts = false, includeSnoozed = false, view = '' }: BoardQuery): string =>
  [readerId === ownerId || view !== '' ? readerId : '', ownerId, includeDrafts, includeSnoozed, view].join(' ');

const toVersion = ({ generated_at, revision }: BoardState, view: string): string =>
  `${String(generated_at)} ${String(revision)} ${view}`;

async function getViewText(database: Database, personId: string, name: string): Promise<string> {
  const text = await findViewText(database, personId, name);
  if (text !== undefined) return text;
  throw new AppError('not_found', `No saved view named "${name}".`, { field: 'view' });
}

async function getState(database: Database, personId: string): Promise<BoardState> {
  const state = await findBoardState(database, personId);
  if (state === undefined) throw new Error('The owner of the board has no account.');
  return state;
}

interface LoadedSnapshot extends BoardState {
  readonly snapshot: PreparedSnapshot;
  /** In characters. */
  readonly size: number;
}

/** Returns a function that reads snapshots, and reuses each one until `generated_at` changes. */
function createSnapshotCache(database: Database): (personId: string, state: BoardState) => Promise<LoadedSnapshot> {
  const cache = new LRUCache<string, LoadedSnapshot>({ maxSize: MAX_CACHED_CHARACTERS });
  return async (personId, state) => {
    const cached = cache.get(personId);
    if (cached?.generated_at === state.generated_at) return { ...cached, revision: state.revision };
    const board = selectBoardStates(database).select(['snapshot', 'changes']).where('people.id', '=', personId);
    const { snapshot, changes, ...newest } = await board.executeTakeFirstOrThrow();
    const loaded = { ...newest, snapshot: parse(snapshot, changes), size: (snapshot?.length ?? 0) + 1 };
    cache.set(personId, loaded, { size: loaded.size });
    return { ...loaded, revision: state.revision };
  };
}

function parse(snapshot: string | null, changes: string | null): PreparedSnapshot {
  if (snapshot === null) return prepareSnapshot(EMPTY_BOARD_SNAPSHOT);
  return prepareSnapshot(JSON.parse(snapshot) as BoardSnapshot, JSON.parse(changes ?? '{}') as Changes);
}
