import { AppError } from '../../core/errors.js';
import type { Database } from '../../storage/database.js';
import type { ActionName, PullRequest } from '../forges/forge.js';
import type { Forge } from '../forges/forge.js';
import { ForgeError } from '../forges/forge-error.js';
import type { Attempts } from '../actions/attempts.js';
import type { PullRequestAddress } from '../actions/state-entries.js';
import { ActionNotDueError, sendActionOnce } from '../actions/send-action-once.js';
import type { ActionRequest } from '../actions/send-action-once.js';

/** A pull request after a refresh, as input of the automation. */
export interface AutomationInput {
  readonly database: Database;
  readonly attempts: Attempts;
  readonly forge: Forge;
  readonly address: PullRequestAddress;
  readonly row: PullRequest;
  readonly now: () => number;
}

/** The result of an automatic action. */
export type AutomaticResult = 'not sent' | 'sent' | { readonly refused: ForgeError };

/** Sends an action without a user's request. Does nothing if another attempt is in progress, or was meanwhile. */
export async function sendAutomaticAction(
  { attempts, forge, address, row, now }: AutomationInput,
  action: ActionName,
  { assertDue, saveEffect }: Pick<ActionRequest, 'saveEffect' | 'assertDue'>,
): Promise<AutomaticResult> {
  const headSha = row.headSha === '' ? undefined : row.headSha;
  try {
    await sendActionOnce({ attempts, forge, address, action, headSha, now, assertDue, saveEffect });
    return 'sent';
  } catch (error) {
    if (error instanceof ForgeError) return { refused: error };
    if (error instanceof ActionNotDueError || error instanceof AppError) return 'not sent';
    throw error;
  }
}
