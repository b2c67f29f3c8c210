/** By what a board is known to be another than before. */
import type { Database } from '../storage/database.js';
import { prepare } from '../storage/prepared.js';

export interface BoardState {
  /** When the board was last refreshed, `null` before the first time. No two boards of a person have the same. */
  readonly generated_at: number | null;
  /** Of the person, which stands for the time of a board before the first refresh. */
  readonly created_at: number;
  /** Moves on when the board looks different to its person; `null` while they have said nothing of it. */
  readonly revision: number | null;
}

export interface BoardVersion {
  /** Another whenever the board looks different to its person; without spaces, and shorter than 40 characters. */
  readonly id: string;
  /** When it will be, if nobody does anything before, in milliseconds: what was set aside comes back. */
  readonly endsAt: number;
}

/** @returns `undefined` when the person is gone. */
export async function findBoardState(database: Database, personId: string): Promise<BoardState | undefined> {
  const [state] = await findPreparedState(database, { personId });
  return state;
}

/** @returns `undefined` when the person is gone. */
export async function findBoardVersion(
  database: Database,
  personId: string,
  at: number,
): Promise<BoardVersion | undefined> {
  const [row] = await findPreparedVersion(database, { personId, at });
  return row && toVersion(row);
}

/** Fewer than either engine takes values in one statement. */
const PEOPLE_A_STATEMENT = 1_000;

/** Gives the ids of versions by person; people who are gone are left out. */
export async function readBoardVersions(
  database: Database,
  personIds: readonly string[],
  at: number,
): Promise<ReadonlyMap<string, string>> {
  const versions = new Map<string, string>();
  for (let start = 0; start < personIds.length; start += PEOPLE_A_STATEMENT) {
    const some = personIds.slice(start, start + PEOPLE_A_STATEMENT);
    const rows = await selectVersions(database, at).where('people.id', 'in', some).execute();
    for (const row of rows) versions.set(row.id, toVersion(row).id);
  }
  return versions;
}

/** What is known of a board without the board. */
export function selectStates(database: Database) {
  return database
    .selectFrom('people')
    .leftJoin('boards', 'boards.person_id', 'people.id')
    .leftJoin('board_readers', 'board_readers.person_id', 'people.id')
    .select(['people.id', 'generated_at', 'people.created_at', 'revision']);
}

function selectVersions(database: Database, at: number) {
  return selectStates(database).select((query) => {
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
  selectStates(database).where('people.id', '=', personId),
);

const findPreparedVersion = prepare((database, { personId, at }: { readonly personId: string; readonly at: number }) =>
  selectVersions(database, at).where('people.id', '=', personId),
);

interface VersionRow extends BoardState {
  /** How many snoozes have ended and are not forgotten yet: with the rest unchanged, ever more. */
  readonly ended: number | null;
  readonly next_end: number | null;
}

function toVersion({ generated_at, created_at, revision, ended, next_end }: VersionRow): BoardVersion {
  const parts = [generated_at ?? created_at, revision ?? 0, ended ?? 0];
  return { id: parts.map((part) => part.toString(36)).join('.'), endsAt: next_end ?? Infinity };
}
