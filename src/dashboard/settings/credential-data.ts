import type { Database } from '../../storage/database.js';
import type { StoredCredential } from './forge-settings.js';

/** The tables with local state that is keyed by the kind of forge and the name of the repository. */
const STATE_TABLES = ['repository_marks', 'pull_request_marks', 'action_attempts', 'snoozes'] as const;

/**
 * Deletes the snapshots and the status of a credential, and the local state of repositories that no other credential
 * reads: a repository of the same name at a different server must not inherit it.
 */
export async function deleteCredentialData(
  transaction: Database,
  personId: string,
  { id, forge }: Pick<StoredCredential, 'forge' | 'id'>,
): Promise<void> {
  const own = await listNames(transaction, personId, [id]);
  const others = transaction.selectFrom('forge_credentials').select('id').where('person_id', '=', personId);
  const rows = await others.where('forge', '=', forge).where('id', '!=', id).execute();
  const kept = await listNames(transaction, personId, [forge, ...rows.map((row) => row.id)]);
  const removed = [...own].filter((name) => !kept.has(name));
  for (let start = 0; start < removed.length; start += NAMES_PER_STATEMENT) {
    const names = removed.slice(start, start + NAMES_PER_STATEMENT);
    for (const table of STATE_TABLES) {
      const state = transaction.deleteFrom(table).where('person_id', '=', personId).where('forge', '=', forge);
      await state.where('repo', 'in', names).execute();
    }
  }
  for (const table of ['forge_readings', 'forge_states'] as const) {
    await transaction.deleteFrom(table).where('person_id', '=', personId).where('forge', '=', id).execute();
  }
}

/** Far below the number of parameters that the databases allow. */
const NAMES_PER_STATEMENT = 500;

/** Lists the names of the repositories that credentials read, in lower case like those of local state. */
async function listNames(database: Database, personId: string, connections: readonly string[]): Promise<Set<string>> {
  const rows = await database
    .selectFrom('forge_readings')
    .select('full_name')
    .where('person_id', '=', personId)
    .where('forge', 'in', connections)
    .execute();
  return new Set(rows.map(({ full_name }) => full_name.toLowerCase()));
}
