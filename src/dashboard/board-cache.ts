/** A cache of rendered boards. */
import { LRUCache } from 'lru-cache';
import { AppError } from '../core/errors.js';
import { singleFlight } from '../core/concurrency.js';
import type { Database } from '../storage/database.js';
import { EMPTY_BOARD_SNAPSHOT, prepareSnapshot, findExpiry, renderBoard } from './board.js';
import type { PreparedSnapshot, Board, BoardSnapshot } from './board.js';
import { readOwnerState } from './owner-state.js';
import { findBoardState, selectBoardStates } from './board-state.js';
import type { BoardState } from './board-state.js';
import type { Changes } from './pull-request-changes.js';
import type { View } from './view-filter.js';
import { findViewText } from './views.js';

export interface BoardOptions {
  readonly includeDrafts?: boolean | undefined;
  readonly includeSnoozed?: boolean | undefined;
  /** The name of one of the caller's saved views. */
  readonly view?: string | undefined;
}

interface BoardQuery extends BoardOptions {
  readonly readerId: string;
  readonly ownerId: string;
}

/**
 * Returns a rendered board: the same object for the same query until the board changes, so that callers can cache
 * derived values by identity.
 */
export type BoardCache = (query: BoardQuery) => Promise<Board>;

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

export function createBoardCache(database: Database, now: () => number): BoardCache {
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
