import { AppError } from '../../errors.js';
import type { Database } from '../../storage/database.js';
import type { ActionName, PullRequest } from '../forges/facts.js';
import type { Forge } from '../forges/forge.js';
import { ForgeError } from '../forges/forge-error.js';
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

/** An action that may be done, as far as is known here. */
export interface Acted {
  readonly forge: Forge;
  readonly address: PullRequestAddress;
  readonly action: ActionName;
  /** As the board shows it. */
  readonly row: PullRequest | undefined;
}

/** Does actions, keeps what follows from them, and has the board show it. */
export interface Acting {
  /** @throws AppError `invalid_input` when neither the forge nor we in its place have such an action. */
  requireAction(forge: Forge, action: ActionName): void;
  /** @throws AppError as the forge, or somebody else who is at it, refuses. */
  act(acted: Acted): Promise<Answered>;
}

/** A comment that was written is all that could be done. */
export type Answered = 'done' | 'queued';

export function createActing({ database, refresher, attempts, now = Date.now }: ActingOptions): Acting {
  async function send({ forge, address, action, row }: Acted): Promise<Outcome> {
    const requireDue = async (): Promise<void> => {
      const { personId, forge: name, fullName, number } = address;
      const { pullRequests } = await readMarks(database, personId, now());
      const marks = pullRequests.get(pullRequestKey(name, fullName, number));
      if (marks !== undefined && isAskedFor(action, marks)) throw refuse('in_progress');
    };
    const keep = (outcome: Outcome) => keepEffect(database, { address, action, outcome, row, at: now() });
    const headSha = row?.headSha === '' ? undefined : row?.headSha;
    return sendOnce({ attempts, forge, address, action, headSha, now, requireDue, keep });
  }

  async function keepWish({ forge, address, action, row }: Acted): Promise<Outcome> {
    if (action === 'auto_merge') {
      if (row === undefined) requireOffered(await readRowAtForge(forge, address), action);
      await armAutoMerge(database, address);
    } else {
      await removeMark(database, address, 'auto_merge');
    }
    return 'done';
  }

  /** What fails about that shows on the board itself. */
  async function show({ personId, forge, fullName }: PullRequestAddress): Promise<void> {
    await refresher.recompose(personId).catch(() => undefined);
    void refresher.refreshRepository(personId, forge, fullName).catch(() => undefined);
  }

  return {
    requireAction(forge, action) {
      if (forge.actions.includes(action) || isKeptHere(forge, action)) return;
      throw new AppError('invalid_input', `Expected an action that ${forge.name} has; it has none of this name.`, {
        field: 'forge',
      });
    },
    async act(acted) {
      const { forge, address, action } = acted;
      try {
        const outcome = await (isKeptHere(forge, action) ? keepWish(acted) : send(acted));
        return outcome === 'queued' ? 'queued' : 'done';
      } catch (error) {
        if (!(error instanceof ForgeError)) throw error;
        if (isGone(error)) await holdOff(database, address, now());
        else if (isNothingToCancel(action, error)) return 'done';
        throw toActionRefusal(error, now());
      } finally {
        // After a refusal too: the forge knows better than the board.
        await show(address);
      }
    },
  };
}

/** Forgejo has no such thing in its API. */
function isKeptHere({ name }: Forge, action: ActionName): boolean {
  return name === 'forgejo' && (action === 'auto_merge' || action === 'cancel_auto_merge');
}

function isNothingToCancel(action: ActionName, { kind, refusal }: ForgeError): boolean {
  return action === 'cancel_auto_merge' && kind === 'conflict' && refusal === 'unknown';
}
