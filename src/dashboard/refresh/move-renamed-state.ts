import type { Database } from '../../storage/database.js';
import type { ForgeReadingsTable } from '../../storage/tables.js';
import type { ForgeKey } from './repository-snapshots.js';

/** The tables with local state that is keyed by repository name. */
const TABLES = ['repository_marks', 'pull_request_marks', 'snoozes'] as const;

/** Moves the local state of renamed repositories to their new names. Call it before the new snapshots are saved. */
export async function moveRenamedState(
  database: Database,
  { personId, forge }: ForgeKey,
  rows: readonly Pick<ForgeReadingsTable, 'full_name' | 'repository_id'>[],
): Promise<void> {
  const names = new Map(rows.map(({ repository_id, full_name }) => [repository_id, full_name]));
  const known = await database
    .selectFrom('forge_readings')
    .select(['repository_id', 'full_name'])
    .where('person_id', '=', personId)
    .where('forge', '=', forge)
    .where('repository_id', 'in', [...names.keys()])
    .execute();
  for (const { repository_id, full_name } of known) {
    const [from, to = ''] = [full_name, names.get(repository_id)].map((name) => name?.toLowerCase());
    if (from === undefined || from === to) continue;
    for (const table of TABLES) {
      // The state under the new name belongs to the repository that had this name before.
      const others = database.deleteFrom(table).where('person_id', '=', personId).where('forge', '=', forge);
      await others.where('repo', '=', to).execute();
      const own = database.updateTable(table).set({ repo: to }).where('person_id', '=', personId);
      await own.where('forge', '=', forge).where('repo', '=', from).execute();
    }
  }
}
