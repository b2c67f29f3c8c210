import type { Database } from '../../storage/database.js';
import type { ForgeName, PullRequest } from '../forges/forge.js';
import type { Forge } from '../forges/forge.js';
import { ForgeError } from '../forges/forge-error.js';
import { isAbsentFromBoard } from '../actions/auto-merge.js';
import { updateState, deleteState } from '../actions/state-entries.js';
import type { PullRequestAddress } from '../actions/state-entries.js';
import type { AutomationState } from './automation-state.js';
import { fetchPullRequestRow } from '../actions/fetch-pull-request-row.js';

export interface UnlistedOptions {
  readonly personId: string;
  readonly forges: ReadonlyMap<ForgeName, Forge>;
  /** The state of the pull requests that the refresh did not return. */
  readonly kept: ReadonlyMap<string, AutomationState>;
  readonly at: number;
}

/**
 * Reads pull requests with auto-merge that the refresh did not return, each at most every five minutes. Removes the
 * auto-merge state of those that the forge reports as no longer open.
 */
export async function fetchUnlistedPullRequests(
  database: Database,
  { personId, forges, kept, at }: UnlistedOptions,
): Promise<PullRequest[]> {
  const rows: PullRequest[] = [];
  for (const [key, { auto_merge: state }] of kept) {
    const [forgeName, , number] = key.split(' ');
    const forge = forges.get(forgeName as ForgeName);
    if (forge === undefined || state === undefined || !isAbsentFromBoard(state, at)) continue;
    const address = { personId, forge: forge.name, fullName: state.fullName, number: Number(number) };
    await updateState(database, address, { kind: 'auto_merge', state: { ...state, lookedAt: at } });
    const row = await readOpen(database, forge, address);
    if (row !== undefined) rows.push(row);
  }
  return rows;
}

async function readOpen(
  database: Database,
  forge: Forge,
  address: PullRequestAddress,
): Promise<PullRequest | undefined> {
  try {
    return await fetchPullRequestRow(forge, address);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    if (error.kind === 'not_found') await deleteState(database, address, 'auto_merge');
    return undefined;
  }
}
