import type { Caller } from '../../accounts/callers.js';
import { requirePerson } from '../../accounts/scopes.js';
import { AppError } from '../../errors.js';
import type { ActionName, ForgeName } from '../forges/facts.js';
import type { Check, Forge } from '../forges/forge.js';
import { ForgeError } from '../forges/forge-error.js';
import type { ForgeClients } from '../forges/open-forges.js';
import { createActing } from './acting.js';
import type { ActingOptions, Answered } from './acting.js';
import { findBoardRow } from './board-row.js';
import { requireOffered } from './offered.js';
import { toReadRefusal } from './refusals.js';

export interface ActionTarget {
  readonly forge: ForgeName;
  readonly fullName: string;
  readonly number: number;
}

/** What people do to pull requests, in the name of their credential. */
export interface Actions {
  /**
   * Does it, once: what the board says can't be done is refused before the forge is asked, and so is what is under way.
   * The board shows at once what came of it.
   *
   * @returns `queued` when the forge will do it later.
   * @throws AppError with an `action` for every reason of the pull request's or the forge's, `invalid_input` when there
   * is no credential for the forge or the forge has no such action.
   */
  act(caller: Caller | undefined, target: ActionTarget, action: ActionName): Promise<Answered>;
  /** Asks the forge for the checks of the newest commit. @throws AppError as {@link act}, without an `action`. */
  listChecks(caller: Caller | undefined, target: ActionTarget): Promise<Check[]>;
}

export interface ActionsOptions extends ActingOptions {
  readonly forges: Pick<ForgeClients, 'of'>;
}

export function createActions({ forges, ...options }: ActionsOptions): Actions {
  const { database, now = Date.now } = options;
  const acting = createActing(options);

  async function requireForge(personId: string, name: ForgeName): Promise<Forge> {
    const forge = (await forges.of(personId)).get(name);
    if (forge !== undefined) return forge;
    const message = 'Expected a forge that the settings have a credential for; this one has none.';
    throw new AppError('invalid_input', message, { field: 'forge' });
  }

  return {
    async act(caller, { forge: name, fullName, number }, action) {
      const { personId } = requirePerson(caller);
      const forge = await requireForge(personId, name);
      acting.requireAction(forge, action);
      const asked = { personId, forge: name, fullName, number };
      const row = await findBoardRow(database, asked);
      // Forges take a name in any case, and give it in one.
      const address = { ...asked, fullName: row?.repo ?? fullName };
      // What is so already is answered alike; a forge says best what is to be cancelled.
      if (action === 'auto_merge' && row?.autoMergeEnabled === true) return 'done';
      if (row !== undefined && action !== 'cancel_auto_merge') requireOffered(row, action);
      return acting.act({ forge, address, action, row });
    },
    async listChecks(caller, { forge: name, fullName, number }) {
      const forge = await requireForge(requirePerson(caller).personId, name);
      return forge.checks({ fullName, number }).catch((error: unknown) => {
        throw error instanceof ForgeError ? toReadRefusal(error, now()) : error;
      });
    },
  };
}
