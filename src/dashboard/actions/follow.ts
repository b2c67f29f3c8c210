import { AppError } from '../../errors.js';
import type { Database } from '../../storage/database.js';
import type { ActionName, PullRequest } from '../forges/facts.js';
import type { Forge } from '../forges/forge.js';
import { ForgeError } from '../forges/forge-error.js';
import type { Attempts } from './attempts.js';
import type { PullRequestAddress } from './keep-marks.js';
import { NotDue, sendOnce } from './send-once.js';
import type { Sending } from './send-once.js';

/** A pull request after a refresh, as input of the automation. */
export interface Followed {
  readonly database: Database;
  readonly attempts: Attempts;
  readonly forge: Forge;
  readonly address: PullRequestAddress;
  readonly row: PullRequest;
  readonly now: () => number;
}

/** The result of an automatic action. */
export type Unattended = 'not sent' | 'sent' | { readonly refused: ForgeError };

/** Sends an action without a user's request. Does nothing if another attempt is in progress, or was meanwhile. */
export async function sendUnattended(
  { attempts, forge, address, row, now }: Followed,
  action: ActionName,
  { requireDue, keep }: Pick<Sending, 'keep' | 'requireDue'>,
): Promise<Unattended> {
  const headSha = row.headSha === '' ? undefined : row.headSha;
  try {
    await sendOnce({ attempts, forge, address, action, headSha, now, requireDue, keep });
    return 'sent';
  } catch (error) {
    if (error instanceof ForgeError) return { refused: error };
    if (error instanceof NotDue || error instanceof AppError) return 'not sent';
    throw error;
  }
}
