import { AppError } from '../../errors.js';
import type { Database } from '../../storage/database.js';
import type { ActionName, PullRequest } from '../forges/facts.js';
import type { Forge } from '../forges/forge.js';
import { ForgeError } from '../forges/forge-error.js';
import { FORGE_PRODUCT_NAMES } from '../forge-product-names.js';
import type { Refresher } from '../refresh/refresher.js';
import type { Attempts } from './attempts.js';
import { armAutoMerge } from './auto-merge.js';
import { holdOff, isGone, keepEffect } from './effects.js';
import { removeMark } from './keep-marks.js';
import type { PullRequestAddress } from './keep-marks.js';
import { pullRequestKey, readMarks } from './marks.js';
import { requireOffered } from './offered.js';
import { refuse, toActionRefusal } from './refusals.js';
import { isAskedFor } from './requests.js';
import { readRowAtForge } from './row-at-forge.js';
import { sendOnce } from './send-once.js';
import type { Outcome } from './send-once.js';

export interface ActingOptions {
  readonly database: Database;
  readonly refresher: Pick<Refresher, 'recompose' | 'refreshRepository'>;
  readonly attempts: Attempts;
  readonly now?: (() => number) | undefined;
}

/** An action that has passed all checks that need no request to the forge. */
export interface Acted {
  readonly forge: Forge;
  readonly address: PullRequestAddress;
  readonly action: ActionName;
  /** The row on the board; `undefined` if the board does not list the pull request. */
  readonly row: PullRequest | undefined;
}

/** Performs actions, saves their effects, and updates the board. */
export interface Acting {
  /** @throws AppError `invalid_input` if neither the forge nor Trellis in its place supports the action. */
  requireAction(forge: Forge, action: ActionName): void;
  /** @throws AppError if the forge rejects the action, or another attempt is in progress. */
  act(acted: Acted): Promise<Answered>;
}

/** `queued` if a bot or the forge performs the action later, for example after a comment. */
export type Answered = 'done' | 'queued';

export function createActing({ database, refresher, attempts, now = Date.now }: ActingOptions): Acting {
  async function send({ forge, address, action, row }: Acted): Promise<Outcome> {
    const requireDue = async (): Promise<void> => {
      const { personId, forge: name, fullName, number } = address;
      const { pullRequests } = await readMarks(database, personId, now());
      const local = pullRequests.get(pullRequestKey(name, fullName, number));
      if (local !== undefined && isAskedFor(action, local)) throw refuse('in_progress');
    };
    const keep = (outcome: Outcome) => keepEffect(database, { address, action, outcome, row, at: now() });
    const headSha = row?.headSha === '' ? undefined : row?.headSha;
    return sendOnce({ attempts, forge, address, action, headSha, now, requireDue, keep });
  }

  async function saveAutoMerge({ forge, address, action, row }: Acted): Promise<Outcome> {
    if (action === 'auto_merge') {
      if (row === undefined) requireOffered(await readRowAtForge(forge, address), action);
      await armAutoMerge(database, address);
    } else {
      await removeMark(database, address, 'auto_merge');
    }
    return 'done';
  }

  /** Ignores errors, because the board itself shows them. */
  async function updateBoard({ personId, forge, fullName }: PullRequestAddress): Promise<void> {
    await refresher.recompose(personId).catch(() => undefined);
    void refresher.refreshRepository(personId, forge, fullName).catch(() => undefined);
  }

  return {
    requireAction(forge, action) {
      if (forge.actions.includes(action) || isAutoMergeByTrellis(forge, action)) return;
      const message = `${FORGE_PRODUCT_NAMES[forge.name]} does not support the action "${action}".`;
      throw new AppError('invalid_input', message, { field: 'forge' });
    },
    async act(acted) {
      const { forge, address, action } = acted;
      try {
        const outcome = await (isAutoMergeByTrellis(forge, action) ? saveAutoMerge(acted) : send(acted));
        return outcome === 'queued' ? 'queued' : 'done';
      } catch (error) {
        if (!(error instanceof ForgeError)) throw error;
        if (isGone(error)) await holdOff(database, address, now());
        else if (isNothingToCancel(action, error)) return 'done';
        throw toActionRefusal(error, now());
      } finally {
        // After errors too, because the board may have been out of date.
        await updateBoard(address);
      }
    },
  };
}

/** Trellis performs auto-merges for Forgejo, because its API has no operation for them. */
function isAutoMergeByTrellis({ name }: Forge, action: ActionName): boolean {
  return name === 'forgejo' && (action === 'auto_merge' || action === 'cancel_auto_merge');
}

function isNothingToCancel(action: ActionName, { kind, refusal }: ForgeError): boolean {
  return action === 'cancel_auto_merge' && kind === 'conflict' && refusal === 'unknown';
}
