/** Forges whose URL changed. The data of the old server must not be mistaken for data of the new one. */
import type { Database } from '../storage/database.js';
import type { ForgeSettings } from './forge-settings.js';
import type { ForgeName } from './forges/forge.js';
import { toGithubApiUrl } from './forges/github/requests.js';

/** Returns the forges whose URL differs between two settings. A forge that had no URL before is not included. */
export function findForgesWithNewUrl(before: ForgeSettings, after: ForgeSettings): ForgeName[] {
  const moved: ForgeName[] = [];
  if (toGithubApiUrl(before.githubUrl) !== toGithubApiUrl(after.githubUrl)) moved.push('github');
  if (before.forgejoUrl !== '' && before.forgejoUrl !== after.forgejoUrl) moved.push('forgejo');
  if (before.gitlabUrl !== '' && before.gitlabUrl !== after.gitlabUrl) moved.push('gitlab');
  return moved;
}

const FORGE_TABLES = [
  'forge_readings',
  'forge_states',
  'repository_marks',
  'pull_request_marks',
  'action_attempts',
  'snoozes',
] as const;

/** Deletes the user's snapshots, local state, snoozes and pending actions of forges. */
export async function deleteForgeData(
  database: Database,
  personId: string,
  forges: readonly ForgeName[],
): Promise<void> {
  if (forges.length === 0) return;
  for (const table of FORGE_TABLES) {
    await database.deleteFrom(table).where('person_id', '=', personId).where('forge', 'in', forges).execute();
  }
}
