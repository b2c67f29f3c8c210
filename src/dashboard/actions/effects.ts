import type { Database } from '../../storage/database.js';
import type { ActionName, PullRequest } from '../forges/facts.js';
import type { ForgeError } from '../forges/forge-error.js';
import { removeMark, saveMark } from './keep-marks.js';
import type { PullRequestAddress } from './keep-marks.js';
import { requestMark } from './requests.js';
import type { Outcome } from './send-once.js';

/** Forges list for a while what is not open any more. */
const HELD_MS = 120_000;

export interface Effect {
  readonly address: PullRequestAddress;
  readonly action: ActionName;
  readonly outcome: Outcome;
  readonly row: PullRequest | undefined;
  readonly at: number;
}

/** Keeps what an action has for its consequence on the board until the forge says so itself. */
export async function keepEffect(database: Database, { address, action, outcome, row, at }: Effect): Promise<void> {
  if (action === 'merge' || action === 'close') return holdOff(database, address, at);
  // What the forge has done already needs no waiting for; bots always do it later.
  if (action === 'update_branch' && outcome === 'done') return;
  const mark = requestMark(action, row, { at, comment: typeof outcome === 'string' ? undefined : outcome });
  if (mark !== undefined) await saveMark(database, address, mark);
}

/** Takes a pull request off the board that is not open any more; nothing is to be done to it by itself either. */
export async function holdOff(database: Database, address: PullRequestAddress, at: number): Promise<void> {
  await saveMark(database, address, { kind: 'held', state: {}, expiresAt: at + HELD_MS });
  await removeMark(database, address, 'auto_merge');
}

/** Somebody merged or closed it between listing and acting. */
export function isGone({ refusal }: ForgeError): boolean {
  return refusal === 'already_merged' || refusal === 'already_closed';
}
