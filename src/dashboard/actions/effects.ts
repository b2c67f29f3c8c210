import type { Database } from '../../storage/database.js';
import type { ActionName, PullRequest } from '../forges/forge.js';
import type { ForgeError } from '../forges/forge-error.js';
import { deleteState, saveState } from './state-entries.js';
import type { PullRequestAddress } from './state-entries.js';
import { toRequestEntry } from './bot-requests.js';
import type { ActionOutcome } from './send-action-once.js';

/** Forges may still list a pull request for a while after it was closed. */
const HELD_MS = 120_000;

export interface ActionEffect {
  readonly address: PullRequestAddress;
  readonly action: ActionName;
  readonly outcome: ActionOutcome;
  readonly row: PullRequest | undefined;
  readonly at: number;
}

/** Saves the effect of an action, which the board shows until the forge reports it. */
export async function saveActionEffect(
  database: Database,
  { address, action, outcome, row, at }: ActionEffect,
): Promise<void> {
  if (action === 'merge' || action === 'close') return hideFromBoard(database, address, at);
  // An update that the forge has completed is not pending; bots always work later.
  if (action === 'update_branch' && outcome === 'done') return;
  const mark = toRequestEntry(action, row, { at, comment: typeof outcome === 'string' ? undefined : outcome });
  if (mark !== undefined) await saveState(database, address, mark);
}

/** Hides a closed pull request from the board, and cancels its auto-merge. */
export async function hideFromBoard(database: Database, address: PullRequestAddress, at: number): Promise<void> {
  await saveState(database, address, { kind: 'held', state: {}, expiresAt: at + HELD_MS });
  await deleteState(database, address, 'auto_merge');
}

/** Returns whether the pull request was merged or closed since the board listed it. */
export function isClosedAtForge({ refusal }: ForgeError): boolean {
  return refusal === 'already_merged' || refusal === 'already_closed';
}
