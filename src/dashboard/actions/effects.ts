import type { Database } from '../../storage/database.js';
import type { ActionName, PullRequest } from '../forges/facts.js';
import type { ForgeError } from '../forges/forge-error.js';
import { removeMark, saveMark } from './keep-marks.js';
import type { PullRequestAddress } from './keep-marks.js';
import { requestMark } from './requests.js';
import type { Outcome } from './send-once.js';

/** Forges may still list a pull request for a while after it was closed. */
const HELD_MS = 120_000;

export interface Effect {
  readonly address: PullRequestAddress;
  readonly action: ActionName;
  readonly outcome: Outcome;
  readonly row: PullRequest | undefined;
  readonly at: number;
}

/** Saves the effect of an action, which the board shows until the forge reports it. */
export async function keepEffect(database: Database, { address, action, outcome, row, at }: Effect): Promise<void> {
  if (action === 'merge' || action === 'close') return holdOff(database, address, at);
  // An update that the forge has completed is not pending; bots always work later.
  if (action === 'update_branch' && outcome === 'done') return;
  const mark = requestMark(action, row, { at, comment: typeof outcome === 'string' ? undefined : outcome });
  if (mark !== undefined) await saveMark(database, address, mark);
}

/** Hides a closed pull request from the board, and cancels its auto-merge. */
export async function holdOff(database: Database, address: PullRequestAddress, at: number): Promise<void> {
  await saveMark(database, address, { kind: 'held', state: {}, expiresAt: at + HELD_MS });
  await removeMark(database, address, 'auto_merge');
}

/** Returns whether the pull request was merged or closed since the board listed it. */
export function isGone({ refusal }: ForgeError): boolean {
  return refusal === 'already_merged' || refusal === 'already_closed';
}
