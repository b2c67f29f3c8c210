import type { Database } from '../../storage/database.js';
import type { ForgeName, PullRequest } from '../forges/facts.js';
import type { Forge } from '../forges/forge.js';
import { ForgeError } from '../forges/forge-error.js';
import { isMissed } from './auto-merge.js';
import { changeMark, removeMark } from './keep-marks.js';
import type { PullRequestAddress } from './keep-marks.js';
import type { Kept } from './kept-marks.js';
import { readRowAtForge } from './row-at-forge.js';

export interface Missed {
  readonly personId: string;
  readonly forges: ReadonlyMap<ForgeName, Forge>;
  /** The state of the pull requests that the refresh did not return. */
  readonly kept: ReadonlyMap<string, Kept>;
  readonly at: number;
}

/**
 * Reads pull requests with auto-merge that the refresh did not return, each at most every five minutes. Removes the
 * auto-merge state of those that the forge reports as no longer open.
 */
export async function readMissedRows(
  database: Database,
  { personId, forges, kept, at }: Missed,
): Promise<PullRequest[]> {
  const rows: PullRequest[] = [];
  for (const [key, { auto_merge: state }] of kept) {
    const [forgeName, , number] = key.split(' ');
    const forge = forges.get(forgeName as ForgeName);
    if (forge === undefined || state === undefined || !isMissed(state, at)) continue;
    const address = { personId, forge: forge.name, fullName: state.fullName, number: Number(number) };
    await changeMark(database, address, { kind: 'auto_merge', state: { ...state, lookedAt: at } });
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
    return await readRowAtForge(forge, address);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    if (error.kind === 'not_found') await removeMark(database, address, 'auto_merge');
    return undefined;
  }
}
