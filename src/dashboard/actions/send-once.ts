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
  /** The newest commit as the board shows it. */
  readonly headSha: string | undefined;
  readonly now: () => number;
  /** Looks whether it is still to be sent, now that nobody else can; throws when it is not. */
  readonly requireDue: () => Promise<void>;
  /** Keeps what follows from it. After a crash before that is done, the outcome is not known. */
  readonly keep: (outcome: Outcome) => Promise<void>;
}

/** There is nothing to send any more. */
export class NotDue extends Error {}

/**
 * Tells a forge to do something, unless it may have been told before: then it is asked for the state first, and what
 * was done is not done again.
 *
 * @throws AppError `conflict` while somebody else is at it, or when nobody can say what became of it; ForgeError when
 * the forge refused.
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
      (await tell(sending, attempt).catch((error: unknown) => {
        isKnown = !isLost(error);
        throw error;
      }));
    await sending.keep(outcome);
    isKnown = true;
    return outcome;
  } finally {
    await (isKnown ? attempt.end() : attempt.lose());
  }
}

async function tell({ forge, address, action, headSha }: Sending, attempt: Attempt): Promise<Outcome> {
  if (attempt.lost !== undefined) await attempt.restart();
  const { fullName, number } = address;
  return forge.act({ fullName, number, headSha }, action).catch((error: unknown) => {
    if (attempt.lost !== undefined && isDone(error, action)) return 'done';
    throw error;
  });
}

/** What an attempt without an answer was about has come about. */
function isDone(error: unknown, action: ActionName): boolean {
  const refusal = error instanceof ForgeError ? error.refusal : undefined;
  return (action === 'merge' && refusal === 'already_merged') || (action === 'close' && refusal === 'already_closed');
}

/** Whether the forge may have done what it did not answer. @see Forge.act */
function isLost(error: unknown): boolean {
  if (!(error instanceof ForgeError)) return true;
  const { kind, refusal } = error;
  return refusal !== undefined && (kind === 'unreachable' || kind === 'unknown');
}
