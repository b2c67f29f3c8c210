/** Boards as they were last answered, kept for as long as they are right. */
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
  /** The name of one of the reader's views. */
  readonly view?: string | undefined;
}

interface BoardQuestion extends BoardLook {
  readonly readerId: string;
  readonly ownerId: string;
}

/** Answers the same question with the same object while the answer is the same, so that what was made of it can be kept too. */
export type BoardAnswers = (question: BoardQuestion) => Promise<Board>;

/**
 * Characters, of snapshots and of answers each. The largest boards have some
 * million of them, and take three times that as objects.
 */
const MAX_KEPT_CHARACTERS = 20_000_000;

interface Answer {
  readonly version: string;
  /** In milliseconds. */
  readonly until: number;
  readonly board: Board;
}

export function createBoardAnswers(database: Database, now: () => number): BoardAnswers {
  const findSnapshot = createSnapshots(database);
  const kept = new LRUCache<string, Answer>({ maxSize: MAX_KEPT_CHARACTERS });
  const once = onceAtATime<Board>();

  return async (question) => {
    const { ownerId, readerId } = question;
    const view = question.view === undefined ? '' : await requireViewText(database, readerId, question.view);
    const state = await requireState(database, ownerId);
    const [key, version] = [toKey(question), toVersion(state, view)];
    const known = kept.get(key);
    if (known?.version === version && now() < known.until) return known.board;
    return once(`${key} ${version}`, async () => {
      const { snapshot, size, ...newest } = await findSnapshot(ownerId, state);
      const reader = ownerId === readerId ? await readBoardReader(database, ownerId) : undefined;
      const look = {
        generatedAt: newest.generated_at ?? newest.created_at,
        at: now(),
        includeDrafts: question.includeDrafts ?? false,
        includeSnoozed: question.includeSnoozed ?? false,
        reader,
        view: view === '' ? undefined : (JSON.parse(view) as View),
      };
      const board = showBoard(snapshot, look);
      kept.set(key, { version: toVersion(newest, view), until: findEnd(snapshot, look), board }, { size });
      return board;
    });
  };
}

const toKey = ({
  readerId,
  ownerId,
  includeDrafts = false,
  includeSnoozed = false,
  view = '',
}: BoardQuestion): string =>
  [readerId === ownerId || view !== '' ? readerId : '', ownerId, includeDrafts, includeSnoozed, view].join(' ');

const toVersion = ({ generated_at, revision }: BoardState, view: string): string =>
  `${String(generated_at)} ${String(revision)} ${view}`;

async function requireViewText(database: Database, personId: string, name: string): Promise<string> {
  const text = await findViewText(database, personId, name);
  if (text !== undefined) return text;
  throw new AppError('not_found', 'Expected the name of a view that is saved; there is none.', { field: 'view' });
}

async function requireState(database: Database, personId: string): Promise<BoardState> {
  const state = await findBoardState(database, personId);
  if (state === undefined) throw new Error('Expected a person who is there.');
  return state;
}

/** A snapshot, what it is known by, and how many characters it has. */
interface Found extends BoardState {
  readonly snapshot: ArrangedSnapshot;
  readonly size: number;
}

/** A snapshot is read anew when its time is another. */
function createSnapshots(database: Database): (personId: string, state: BoardState) => Promise<Found> {
  const kept = new LRUCache<string, Found>({ maxSize: MAX_KEPT_CHARACTERS });
  return async (personId, state) => {
    const known = kept.get(personId);
    if (known?.generated_at === state.generated_at) return { ...known, revision: state.revision };
    const board = selectStates(database).select(['snapshot', 'changes']).where('people.id', '=', personId);
    const { snapshot, changes, ...newest } = await board.executeTakeFirstOrThrow();
    const found = { ...newest, snapshot: parse(snapshot, changes), size: (snapshot?.length ?? 0) + 1 };
    kept.set(personId, found, { size: found.size });
    return { ...found, revision: state.revision };
  };
}

function parse(snapshot: string | null, changes: string | null): ArrangedSnapshot {
  if (snapshot === null) return arrange(EMPTY_SNAPSHOT);
  return arrange(JSON.parse(snapshot) as Snapshot, JSON.parse(changes ?? '{}') as Changes);
}
