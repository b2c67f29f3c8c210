import type { Caller } from '../../accounts/callers.js';
import { requireUser } from '../../accounts/scopes.js';
import { AppError } from '../../core/errors.js';
import type { ActionName, ForgeName } from '../forges/forge.js';
import type { Check, Forge } from '../forges/forge.js';
import { ForgeError } from '../forges/forge-error.js';
import type { ForgeClients } from '../forges/forge-clients.js';
import { FORGE_PRODUCT_NAMES } from '../forges/forge.js';
import { createActionRunner } from './action-runner.js';
import type { ActionRunnerOptions, ActionResult } from './action-runner.js';
import { findBoardRow } from './board-row.js';
import { assertActionAllowed } from './assert-action-allowed.js';
import { toReadError } from './action-errors.js';

export interface ActionTarget {
  readonly forge: ForgeName;
  readonly fullName: string;
  readonly number: number;
}

/** Actions on pull requests, performed with the user's own credential. */
export interface Actions {
  /**
   * Performs an action, and updates the board with its result. Actions that the board marks as blocked or that are in
   * progress are rejected without a request to the forge, and no action is sent twice.
   *
   * @returns `queued` if the forge performs the action later.
   * @throws AppError with `action` details if the state of the pull request or the forge prevents the action,
   * `invalid_input` if there is no credential for the forge or the forge does not support the action.
   */
  perform(caller: Caller | undefined, target: ActionTarget, action: ActionName): Promise<ActionResult>;
  /** Reads the checks of the newest commit from the forge. @throws AppError as `act`, without `action` details. */
  listChecks(caller: Caller | undefined, target: ActionTarget): Promise<Check[]>;
}

export interface ActionsOptions extends ActionRunnerOptions {
  readonly forges: Pick<ForgeClients, 'of'>;
}

export function createActions({ forges, ...options }: ActionsOptions): Actions {
  const { database, now = Date.now } = options;
  const acting = createActionRunner(options);

  async function getForge(personId: string, name: ForgeName): Promise<Forge> {
    const forge = (await forges.of(personId)).get(name);
    if (forge !== undefined) return forge;
    const message = `No ${FORGE_PRODUCT_NAMES[name]} token or username is configured.`;
    throw new AppError('invalid_input', message, { field: 'forge' });
  }

  return {
    async perform(caller, { forge: name, fullName, number }, action) {
      const { personId } = requireUser(caller);
      const forge = await getForge(personId, name);
      acting.assertSupported(forge, action);
      const requested = { personId, forge: name, fullName, number };
      const row = await findBoardRow(database, requested);
      // Forges ignore the case of names; the board has the forge's own spelling.
      const address = { ...requested, fullName: row?.repo ?? fullName };
      // Enabling auto-merge again succeeds. Cancelling always goes to the forge, which knows its current state.
      if (action === 'auto_merge' && row?.autoMergeEnabled === true) return 'done';
      if (row !== undefined && action !== 'cancel_auto_merge') assertActionAllowed(row, action);
      return acting.run({ forge, address, action, row });
    },
    async listChecks(caller, { forge: name, fullName, number }) {
      const forge = await getForge(requireUser(caller).personId, name);
      return forge.checks({ fullName, number }).catch((error: unknown) => {
        throw error instanceof ForgeError ? toReadError(error, now()) : error;
      });
    },
  };
}
