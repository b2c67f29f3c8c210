import type { Database } from '../../storage/database.js';
import type { RepositoryAddress } from '../actions/state-entries.js';

/** Returns whether the user's board lists a repository, as of its last refresh. */
export async function isOnBoard(
  database: Database,
  { personId, forge, fullName }: RepositoryAddress,
): Promise<boolean> {
  const row = await database
    .selectFrom('forge_readings')
    .select('repository_id')
    .where('person_id', '=', personId)
    .where('forge', '=', forge)
    .where('full_name', '=', fullName)
    .executeTakeFirst();
  return row !== undefined;
}
