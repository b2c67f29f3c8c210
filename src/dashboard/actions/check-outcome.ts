import type { ActionName, ForgePullRequest } from '../forges/forge.js';
import type { UnconfirmedAttempt } from './attempts.js';
import { actionConflict } from './action-errors.js';
import type { ActionOutcome, ActionRequest } from './send-action-once.js';

/** How long a bot may take to react to a comment. */
const COMMENT_MS = 600_000;

/** Returns whether the action succeeded; `undefined` if that is not certain yet. */
type OutcomeCheck = (now: ForgePullRequest, lost: UnconfirmedAttempt, at: number) => boolean | undefined;

/** A lost comment and a comment that the bot has not processed yet look the same. */
const commandOutcome: OutcomeCheck = (now, lost, at) =>
  hasMoved(now, lost) || (at < lost.startedAt + COMMENT_MS ? undefined : false);

/** The other actions need no check, because sending them again fails if they succeeded. */
const OUTCOME_CHECKS: Readonly<Partial<Record<ActionName, OutcomeCheck>>> = {
  update_branch: (now, lost) => hasMoved(now, lost) || !now.behind,
  rerun_checks: (now, lost) => hasMoved(now, lost) || now.ci !== 'failure',
  auto_merge: ({ autoMergeEnabled }) => autoMergeEnabled === true,
  cancel_auto_merge: ({ autoMergeEnabled }) => autoMergeEnabled === false,
  // Adding a label again has no effect.
  renovate_rebase: hasMoved,
  dependabot_rebase: commandOutcome,
  dependabot_recreate: commandOutcome,
};

/**
 * Checks at the forge whether an attempt without a response succeeded.
 *
 * @returns `undefined` if it did not, so that the action may be sent again.
 * @throws AppError `conflict` (`unknown`) if that is not certain yet.
 */
export async function checkOutcomeAtForge(
  sending: ActionRequest,
  lost: UnconfirmedAttempt,
): Promise<ActionOutcome | undefined> {
  const { forge, address, action, now } = sending;
  const check = OUTCOME_CHECKS[action];
  if (check === undefined) return undefined;
  const reading = await forge.readRepository(address.fullName);
  const facts = reading?.pullRequests.find(({ number }) => number === address.number);
  // The forge itself rejects actions on pull requests that are not open.
  if (facts === undefined) return undefined;
  const isDone = check(facts, lost, now());
  if (isDone !== undefined) return isDone ? 'done' : undefined;
  throw actionConflict('unknown', "The forge didn't respond. The outcome will show on the board within 10 minutes.");
}

function hasMoved({ headSha }: ForgePullRequest, lost: UnconfirmedAttempt): boolean {
  return lost.headSha !== undefined && headSha !== '' && headSha !== lost.headSha;
}
