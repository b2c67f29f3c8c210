/** Version identifiers that detect changes of a board without reading it. */
import type { Database } from '../storage/database.js';
import { prepare } from '../storage/prepared.js';

export interface BoardState {
  /** The time of the last refresh, `null` before the first one. It is unique among the boards of one user. */
  readonly generated_at: number | null;
  /** The creation time of the account, which replaces `generated_at` before the first refresh. */
  readonly created_at: number;
  /** Incremented when the owner's state (visits, snoozes) changes; `null` before the first such change. */
  readonly revision: number | null;
}

export interface BoardVersion {
  /** Changes whenever the board changes for its owner. Has no spaces, and fewer than 40 characters. */
  readonly id: string;
  /** When the version changes without any action, because a snooze ends; in milliseconds, infinity for never. */
  readonly endsAt: number;
}

/** Returns `undefined` if the user does not exist. */
export async function findBoardState(database: Database, personId: string): Promise<BoardState | undefined> {
  const [state] = await findPreparedState(database, { personId });
  return state;
}

/** Returns `undefined` if the user does not exist. */
export async function findBoardVersion(
  database: Database,
  personId: string,
  at: number,
): Promise<BoardVersion | undefined> {
  const [row] = await findPreparedVersion(database, { personId, at });
  return row && toVersion(row);
}

/** Below the limit of bound values per statement of both SQLite and PostgreSQL. */
const USERS_PER_STATEMENT = 1_000;

/** Returns version identifiers by user. Deleted users are missing. */
export async function readBoardVersions(
  database: Database,
  personIds: readonly string[],
  at: number,
): Promise<ReadonlyMap<string, string>> {
  const versions = new Map<string, string>();
  for (let start = 0; start < personIds.length; start += USERS_PER_STATEMENT) {
    const batch = personIds.slice(start, start + USERS_PER_STATEMENT);
    const rows = await selectVersions(database, at).where('people.id', 'in', batch).execute();
    for (const row of rows) versions.set(row.id, toVersion(row).id);
  }
  return versions;
}

/** Selects board states, without the boards themselves. */
export function selectBoardStates(database: Database) {
  return database
    .selectFrom('people')
    .leftJoin('boards', 'boards.person_id', 'people.id')
    .leftJoin('board_readers', 'board_readers.person_id', 'people.id')
    .select(['people.id', 'generated_at', 'people.created_at', 'revision']);
}

function selectVersions(database: Database, at: number) {
  return selectBoardStates(database).select((query) => {
    const own = query.selectFrom('snoozes').whereRef('snoozes.person_id', '=', 'people.id');
    return [
      own
        .where('until', '<=', at)
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .as('ended'),
      own
        .where('until', '>', at)
        .select(({ fn }) => fn.min<number | null>('until').as('first'))
        .as('next_end'),
    ];
  });
}

const findPreparedState = prepare((database, { personId }: { readonly personId: string }) =>
  selectBoardStates(database).where('people.id', '=', personId),
);

const findPreparedVersion = prepare((database, { personId, at }: { readonly personId: string; readonly at: number }) =>
  selectVersions(database, at).where('people.id', '=', personId),
);

interface VersionRow extends BoardState {
  /** The number of snoozes that have ended but are not deleted yet. It only grows while the other values are equal. */
  readonly ended: number | null;
  readonly next_end: number | null;
}

function toVersion({ generated_at, created_at, revision, ended, next_end }: VersionRow): BoardVersion {
  const parts = [generated_at ?? created_at, revision ?? 0, ended ?? 0];
  return { id: parts.map((part) => part.toString(36)).join('.'), endsAt: next_end ?? Infinity };
}
