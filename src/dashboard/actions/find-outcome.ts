import type { ActionName, PullRequestFacts } from '../forges/facts.js';
import type { LostAttempt } from './attempts.js';
import { refuse } from './refusals.js';
import type { Outcome, Sending } from './send-once.js';

/** As long as a bot may take to answer a comment. */
const COMMENT_MS = 600_000;

/** Whether it has come about; `undefined` when that can't be told yet. */
type Judge = (now: PullRequestFacts, lost: LostAttempt, at: number) => boolean | undefined;

/** A comment can't be told from none before the bot follows it. */
const followed: Judge = (now, lost, at) => hasMoved(now, lost) || (at < lost.beganAt + COMMENT_MS ? undefined : false);

/** The others are asked for the state wherever they are told to do something, and refused when it is done. */
const JUDGES: Readonly<Partial<Record<ActionName, Judge>>> = {
  update_branch: (now, lost) => hasMoved(now, lost) || !now.behind,
  rerun_checks: (now, lost) => hasMoved(now, lost) || now.ci !== 'failure',
  auto_merge: ({ autoMergeEnabled }) => autoMergeEnabled === true,
  cancel_auto_merge: ({ autoMergeEnabled }) => autoMergeEnabled === false,
  // A label that is there already is put on without any effect.
  renovate_rebase: hasMoved,
  dependabot_rebase: followed,
  dependabot_recreate: followed,
};

/**
 * Asks the forge what became of an attempt that has no answer.
 *
 * @returns `undefined` when nothing did, so that it may be sent.
 * @throws AppError `conflict` (`unknown`) when nobody can say.
 */
export async function findOutcome(sending: Sending, lost: LostAttempt): Promise<Outcome | undefined> {
  const { forge, address, action, now } = sending;
  const judge = JUDGES[action];
  if (judge === undefined) return undefined;
  const reading = await forge.readRepository(address.fullName);
  const facts = reading?.pullRequests.find(({ number }) => number === address.number);
  // One that is not open is refused by the forge.
  if (facts === undefined) return undefined;
  const isDone = judge(facts, lost, now());
  if (isDone !== undefined) return isDone ? 'done' : undefined;
  throw refuse('unknown', 'It was sent without an answer; what became of it shows within ten minutes.');
}

function hasMoved({ headSha }: PullRequestFacts, lost: LostAttempt): boolean {
  return lost.headSha !== undefined && headSha !== '' && headSha !== lost.headSha;
}
