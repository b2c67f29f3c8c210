import type { Database } from '../storage/database.js';

/** Fewer than either engine takes values in one statement. */
const PEOPLE_A_STATEMENT = 1_000;

/** Gives the times of people's boards, as `findTime` does of one; people who are gone are left out. */
export async function readBoardTimes(
  database: Database,
  personIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const times = new Map<string, number>();
  for (let start = 0; start < personIds.length; start += PEOPLE_A_STATEMENT) {
    const rows = await database
      .selectFrom('people')
      .leftJoin('boards', 'person_id', 'people.id')
      .select(['people.id', 'generated_at', 'created_at'])
      .where('people.id', 'in', personIds.slice(start, start + PEOPLE_A_STATEMENT))
      .execute();
    for (const { id, generated_at, created_at } of rows) times.set(id, generated_at ?? created_at);
  }
  return times;
}
