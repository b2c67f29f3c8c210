/** A cache of rendered boards. */
import { LRUCache } from 'lru-cache';
import { AppError } from '../errors.js';
import { onceAtATime } from '../in-turn.js';
import type { Database } from '../storage/database.js';
import { EMPTY_SNAPSHOT, arrange, findEnd, showBoard } from './board.js';
import type { ArrangedSnapshot, Board, Snapshot } from './board.js';
import { readBoardReader } from './board-reader.js';
import { findBoardState, selectStates } from './board-state.js';
import type { BoardState } from './board-state.js';
import type { Changes } from './pull-request-changes.js';
import type { View } from './view-filter.js';
import { findViewText } from './views.js';

export interface BoardLook {
  readonly includeDrafts?: boolean | undefined;
  readonly includeSnoozed?: boolean | undefined;
  /** The name of one of the caller's saved views. */
  readonly view?: string | undefined;
}

interface BoardQuery extends BoardLook {
  readonly readerId: string;
  readonly ownerId: string;
}

/**
 * Returns a rendered board: the same object for the same query until the board changes, so that callers can cache
 * derived values by identity.
 */
export type BoardAnswers = (query: BoardQuery) => Promise<Board>;

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

export function createBoardAnswers(database: Database, now: () => number): BoardAnswers {
  const loadSnapshot = createSnapshotCache(database);
  const cache = new LRUCache<string, CachedBoard>({ maxSize: MAX_CACHED_CHARACTERS });
  const once = onceAtATime<Board>();

  return async (query) => {
    const { ownerId, readerId } = query;
    const view = query.view === undefined ? '' : await getViewText(database, readerId, query.view);
    const state = await getState(database, ownerId);
    const [key, version] = [toKey(query), toVersion(state, view)];
    const cached = cache.get(key);
    if (cached?.version === version && now() < cached.expiresAt) return cached.board;
    return once(`${key} ${version}`, async () => {
      const { snapshot, size, ...newest } = await loadSnapshot(ownerId, state);
      const reader = ownerId === readerId ? await readBoardReader(database, ownerId) : undefined;
      const options = {
        generatedAt: newest.generated_at ?? newest.created_at,
        at: now(),
        includeDrafts: query.includeDrafts ?? false,
        includeSnoozed: query.includeSnoozed ?? false,
        reader,
        view: view === '' ? undefined : (JSON.parse(view) as View),
      };
      const board = showBoard(snapshot, options);
      cache.set(key, { version: toVersion(newest, view), expiresAt: findEnd(snapshot, options), board }, { size });
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
  readonly snapshot: ArrangedSnapshot;
  /** In characters. */
  readonly size: number;
}

/** Returns a function that reads snapshots, and reuses each one until `generated_at` changes. */
function createSnapshotCache(database: Database): (personId: string, state: BoardState) => Promise<LoadedSnapshot> {
  const cache = new LRUCache<string, LoadedSnapshot>({ maxSize: MAX_CACHED_CHARACTERS });
  return async (personId, state) => {
    const cached = cache.get(personId);
    if (cached?.generated_at === state.generated_at) return { ...cached, revision: state.revision };
    const board = selectStates(database).select(['snapshot', 'changes']).where('people.id', '=', personId);
    const { snapshot, changes, ...newest } = await board.executeTakeFirstOrThrow();
    const loaded = { ...newest, snapshot: parse(snapshot, changes), size: (snapshot?.length ?? 0) + 1 };
    cache.set(personId, loaded, { size: loaded.size });
    return { ...loaded, revision: state.revision };
  };
}

function parse(snapshot: string | null, changes: string | null): ArrangedSnapshot {
  if (snapshot === null) return arrange(EMPTY_SNAPSHOT);
  return arrange(JSON.parse(snapshot) as Snapshot, JSON.parse(changes ?? '{}') as Changes);
}
