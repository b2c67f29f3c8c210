/** The local state that automation acts on. */
import type { Database } from '../../storage/database.js';
import type { AutoMergeState } from '../actions/auto-merge.js';
import type { AutoUpdateState } from './branch-updates.js';
import type { BotRequestState, UpdateRequestState } from '../actions/bot-requests.js';

/** The state of one pull request, by kind. */
export interface AutomationState {
  readonly auto_merge?: AutoMergeState;
  readonly auto_update?: AutoUpdateState;
  readonly bot_request?: BotRequestState;
  readonly update_request?: UpdateRequestState;
}

/** Returns the unexpired state at a time in milliseconds, keyed by `pullRequestKey`. */
export async function readAutomationState(
  database: Database,
  personId: string,
  at: number,
): Promise<Map<string, AutomationState>> {
  const rows = await database
    .selectFrom('pull_request_marks')
    .select(['forge', 'repo', 'number', 'kind', 'state'])
    .where('person_id', '=', personId)
    .where('kind', 'in', ['auto_merge', 'auto_update', 'bot_request', 'update_request'])
    .where((or) => or.or([or('expires_at', 'is', null), or('expires_at', '>', at)]))
    .execute();
  const kept = new Map<string, AutomationState>();
  for (const { forge, repo, number, kind, state } of rows) {
    const key = `${forge} ${repo} ${number}`;
    kept.set(key, { ...kept.get(key), [kind]: JSON.parse(state) as unknown });
  }
  return kept;
}

/** Returns the keys of the repositories with automatic branch updates. */
export async function readAutoUpdatedRepositories(database: Database, personId: string): Promise<Set<string>> {
  const rows = await database
    .selectFrom('repository_marks')
    .select(['forge', 'repo'])
    .where('person_id', '=', personId)
    .where('auto_update_branch', '=', 1)
    .execute();
  return new Set(rows.map(({ forge, repo }) => `${forge} ${repo}`));
}
