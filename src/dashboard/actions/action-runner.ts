import { AppError } from '../../core/errors.js';
import type { Database } from '../../storage/database.js';
import type { ActionName, PullRequest } from '../forges/forge.js';
import type { Forge } from '../forges/forge.js';
import { ForgeError } from '../forges/forge-error.js';
import { FORGE_PRODUCT_NAMES } from '../forges/forge.js';
import type { Refresher } from '../refresh/refresher.js';
import type { Attempts } from './attempts.js';
import { enableAutoMerge } from './auto-merge.js';
import { hideFromBoard, isClosedAtForge, saveActionEffect } from './effects.js';
import { deleteState } from './state-entries.js';
import type { PullRequestAddress } from './state-entries.js';
import { readLocalState } from './local-state.js';
import { pullRequestKey } from '../forges/forge.js';
import { assertActionAllowed } from './assert-action-allowed.js';
import { actionConflict, toActionError } from './action-errors.js';
import { isPending } from './bot-requests.js';
import { fetchPullRequestRow } from './fetch-pull-request-row.js';
import { sendActionOnce } from './send-action-once.js';
import type { ActionOutcome } from './send-action-once.js';

export interface ActionRunnerOptions {
  readonly database: Database;
  readonly refresher: Pick<Refresher, 'rebuildBoard' | 'refreshRepository'>;
  readonly attempts: Attempts;
  readonly now?: (() => number) | undefined;
}

/** An action that has passed all checks that need no request to the forge. */
export interface PreparedAction {
  readonly forge: Forge;
  readonly address: PullRequestAddress;
  readonly action: ActionName;
  /** The row on the board; `undefined` if the board does not list the pull request. */
  readonly row: PullRequest | undefined;
}

/** Performs actions, saves their effects, and updates the board. */
export interface ActionRunner {
  /** @throws AppError `invalid_input` if neither the forge nor Trellis in its place supports the action. */
  assertSupported(forge: Forge, action: ActionName): void;
  /** @throws AppError if the forge rejects the action, or another attempt is in progress. */
  run(acted: PreparedAction): Promise<ActionResult>;
}

/** `queued` if a bot or the forge performs the action later, for example after a comment. */
export type ActionResult = 'done' | 'queued';

export function createActionRunner({
  database,
  refresher,
  attempts,
  now = Date.now,
}: ActionRunnerOptions): ActionRunner {
  async function send({ forge, address, action, row }: PreparedAction): Promise<ActionOutcome> {
    const requireDue = async (): Promise<void> => {
      const { personId, forge: name, fullName, number } = address;
      const { pullRequests } = await readLocalState(database, personId, now());
      const local = pullRequests.get(pullRequestKey(name, fullName, number));
      if (local !== undefined && isPending(action, local)) throw actionConflict('in_progress');
    };
    const keep = (outcome: ActionOutcome) => saveActionEffect(database, { address, action, outcome, row, at: now() });
    const headSha = row?.headSha === '' ? undefined : row?.headSha;
    return sendActionOnce({ attempts, forge, address, action, headSha, now, assertDue: requireDue, saveEffect: keep });
  }

  async function saveAutoMerge({ forge, address, action, row }: PreparedAction): Promise<ActionOutcome> {
    if (action === 'auto_merge') {
      if (row === undefined) assertActionAllowed(await fetchPullRequestRow(forge, address), action);
      await enableAutoMerge(database, address);
    } else {
      await deleteState(database, address, 'auto_merge');
    }
    return 'done';
  }

  /** Ignores errors, because the board itself shows them. */
  async function updateBoard({ personId, forge, fullName }: PullRequestAddress): Promise<void> {
    await refresher.rebuildBoard(personId).catch(() => undefined);
    void refresher.refreshRepository(personId, forge, fullName).catch(() => undefined);
  }

  return {
    assertSupported(forge, action) {
      if (forge.actions.includes(action) || isAutoMergeByTrellis(forge, action)) return;
      const message = `${FORGE_PRODUCT_NAMES[forge.name]} does not support the action "${action}".`;
      throw new AppError('invalid_input', message, { field: 'forge' });
    },
    async run(acted) {
      const { forge, address, action } = acted;
      try {
        const outcome = await (isAutoMergeByTrellis(forge, action) ? saveAutoMerge(acted) : send(acted));
        return outcome === 'queued' ? 'queued' : 'done';
      } catch (error) {
        if (!(error instanceof ForgeError)) throw error;
        if (isClosedAtForge(error)) await hideFromBoard(database, address, now());
        else if (isNothingToCancel(action, error)) return 'done';
        throw toActionError(error, now());
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
