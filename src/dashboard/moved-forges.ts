/** Forges that are at another address now. Under the same names, another server has other things. */
import type { Database } from '../storage/database.js';
import type { ForgeSettings } from './forge-settings.js';
import type { ForgeName } from './forges/facts.js';
import { toGithubApiUrl } from './forges/github/api-url.js';

/** @returns The forges that settings have elsewhere than before; one that had no address has not moved. */
export function findMovedForges(before: ForgeSettings, after: ForgeSettings): ForgeName[] {
  const moved: ForgeName[] = [];
  if (toGithubApiUrl(before.githubUrl) !== toGithubApiUrl(after.githubUrl)) moved.push('github');
  if (before.forgejoUrl !== '' && before.forgejoUrl !== after.forgejoUrl) moved.push('forgejo');
  if (before.gitlabUrl !== '' && before.gitlabUrl !== after.gitlabUrl) moved.push('gitlab');
  return moved;
}

const OF_FORGES = [
  'forge_readings',
  'forge_states',
  'repository_marks',
  'pull_request_marks',
  'action_attempts',
  'snoozes',
] as const;

/** Deletes what was read of forges, and what a person said or asked for there. */
export async function forgetForges(database: Database, personId: string, forges: readonly ForgeName[]): Promise<void> {
  if (forges.length === 0) return;
  for (const table of OF_FORGES) {
    await database.deleteFrom(table).where('person_id', '=', personId).where('forge', 'in', forges).execute();
  }
}
