import type { ActionName } from '../forges/facts.js';
import type { Forge } from '../forges/forge.js';
import { ForgeError } from '../forges/forge-error.js';
import type { Attempt, Attempts } from './attempts.js';
import { findOutcome } from './find-outcome.js';
import type { PullRequestAddress } from './keep-marks.js';

export type Outcome = Awaited<ReturnType<Forge['act']>>;

export interface Sending {
  readonly attempts: Attempts;
  readonly forge: Forge;
  readonly address: PullRequestAddress;
  readonly action: ActionName;
  /** The head commit on the board. */
  readonly headSha: string | undefined;
  readonly now: () => number;
  /** Checks, while no other attempt can run, whether the action is still to be sent; throws if it is not. */
  readonly requireDue: () => Promise<void>;
  /** Saves the effects of the action. If the process dies before that, the outcome counts as unknown. */
  readonly keep: (outcome: Outcome) => Promise<void>;
}

/** Thrown if an action is no longer to be sent. */
export class NotDue extends Error {}

/**
 * Sends an action to a forge at most once. If the outcome of an earlier attempt is unknown, the state at the forge is
 * checked first, and an action that succeeded is not sent again.
 *
 * @throws AppError `conflict` while another attempt is in progress, or if the outcome of an earlier one can't be
 * determined yet; ForgeError if the forge rejects the action.
 */
export async function sendOnce(sending: Sending): Promise<Outcome> {
  const { attempts, address, action, headSha } = sending;
  const attempt = await attempts.begin(address, action, headSha);
  let isKnown = attempt.lost === undefined;
  try {
    await sending.requireDue();
    const before = attempt.lost && (await findOutcome(sending, attempt.lost));
    isKnown = false;
    const outcome =
      before ??
      (await send(sending, attempt).catch((error: unknown) => {
        isKnown = !isOutcomeUnknown(error);
        throw error;
      }));
    await sending.keep(outcome);
    isKnown = true;
    return outcome;
  } finally {
    await (isKnown ? attempt.end() : attempt.lose());
  }
}

async function send({ forge, address, action, headSha }: Sending, attempt: Attempt): Promise<Outcome> {
  if (attempt.lost !== undefined) await attempt.restart();
  const { fullName, number } = address;
  return forge.act({ fullName, number, headSha }, action).catch((error: unknown) => {
    if (attempt.lost !== undefined && isDone(error, action)) return 'done';
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
