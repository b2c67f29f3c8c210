import type { ActionName } from '../forges/forge.js';
import type { Forge } from '../forges/forge.js';
import { ForgeError } from '../forges/forge-error.js';
import type { Attempt, Attempts } from './attempts.js';
import { checkOutcomeAtForge } from './check-outcome.js';
import type { PullRequestAddress } from './state-entries.js';

export type ActionOutcome = Awaited<ReturnType<Forge['act']>>;

export interface ActionRequest {
  readonly attempts: Attempts;
  readonly forge: Forge;
  readonly address: PullRequestAddress;
  readonly action: ActionName;
  /** The head commit on the board. */
  readonly headSha: string | undefined;
  readonly now: () => number;
  /** Checks, while no other attempt can run, whether the action is still to be sent; throws if it is not. */
  readonly assertDue: () => Promise<void>;
  /** Saves the effects of the action. If the process dies before that, the outcome counts as unknown. */
  readonly saveEffect: (outcome: ActionOutcome) => Promise<void>;
}

/** Thrown if an action is no longer to be sent. */
export class ActionNotDueError extends Error {}

/**
 * Sends an action to a forge at most once. If the outcome of an earlier attempt is unknown, the state at the forge is
 * checked first, and an action that succeeded is not sent again.
 *
 * @throws AppError `conflict` while another attempt is in progress, or if the outcome of an earlier one can't be
 * determined yet; ForgeError if the forge rejects the action.
 */
export async function sendActionOnce(sending: ActionRequest): Promise<ActionOutcome> {
  const { attempts, address, action, headSha } = sending;
  const attempt = await attempts.begin(address, action, headSha);
  let isKnown = attempt.unconfirmed === undefined;
  try {
    await sending.assertDue();
    const before = attempt.unconfirmed && (await checkOutcomeAtForge(sending, attempt.unconfirmed));
    isKnown = false;
    const outcome =
      before ??
      (await send(sending, attempt).catch((error: unknown) => {
        isKnown = !isOutcomeUnknown(error);
        throw error;
      }));
    await sending.saveEffect(outcome);
    isKnown = true;
    return outcome;
  } finally {
    await (isKnown ? attempt.complete() : attempt.leaveUnconfirmed());
  }
}

async function send({ forge, address, action, headSha }: ActionRequest, attempt: Attempt): Promise<ActionOutcome> {
  if (attempt.unconfirmed !== undefined) await attempt.restart();
  const { fullName, number } = address;
  return forge.act({ fullName, number, headSha }, action).catch((error: unknown) => {
    if (attempt.unconfirmed !== undefined && isDone(error, action)) return 'done';
    throw error;
  });
}

/** Returns whether the error shows that an earlier attempt succeeded. */
function isDone(error: unknown, action: ActionName): boolean {
  const refusal = error instanceof ForgeError ? error.refusal : undefined;
  return (action === 'merge' && refusal === 'already_merged') || (action === 'close' && refusal === 'already_closed');
}

/** Returns whether the forge may have performed the action despite the error. @see Forge.act */
function isOutcomeUnknown(error: unknown): boolean {
  if (!(error instanceof ForgeError)) return true;
  const { kind, refusal } = error;
  return refusal !== undefined && (kind === 'unreachable' || kind === 'unknown');
}
