/** When each pull request of a board last changed, as far as its person would care. */
import { pullRequestKey } from './actions/marks.js';
import type { PullRequest } from './forges/facts.js';

/** What counts. A part that the forge doesn't tell at the moment is left out. */
interface State {
  readonly updatedAt: string;
  readonly ci?: PullRequest['ci'];
  readonly headSha?: string;
  readonly decision?: string;
  readonly isConflicting?: boolean;
}

export interface Change extends State {
  /** The time of the first board that showed it so, in milliseconds. */
  readonly at: number;
}

/** By the key of the pull request. */
export type Changes = Readonly<Record<string, Change>>;

export const keyOf = ({ forge, repo, number }: Pick<PullRequest, 'forge' | 'number' | 'repo'>): string =>
  pullRequestKey(forge, repo, number);

/** Goes on from the changes of the board before to those of the next. Who wasn't there before has changed. */
export function noteChanges(before: Changes, pullRequests: readonly PullRequest[], at: number): Changes {
  return Object.fromEntries(
    pullRequests.map((one) => {
      const key = keyOf(one);
      return [key, noteChange(before[key], toState(one), at)];
    }),
  );
}

function noteChange(last: Change | undefined, state: State, at: number): Change {
  if (last === undefined) return { ...state, at };
  // What is left out now is as it was.
  return { ...last, ...state, at: isChange(last, state) ? at : last.at };
}

function toState({ headSha, updatedAt, ci, ciKnown, review, mergeStatus }: PullRequest): State {
  return {
    updatedAt,
    ...(ciKnown === false ? {} : { ci }),
    ...(headSha === '' ? {} : { headSha }),
    ...(review && { decision: review.decision }),
    // Between mergeable, unstable and blocked it goes with checks and reviews, which count themselves.
    ...(mergeStatus === 'unknown' ? {} : { isConflicting: mergeStatus === 'conflicting' }),
  };
}

/** Checks that begin are no news, only how they end. */
function isChange(last: State, now: State): boolean {
  return (
    Date.parse(last.updatedAt) !== Date.parse(now.updatedAt) ||
    (differs(last.ci, now.ci) && now.ci !== 'pending') ||
    (['headSha', 'decision', 'isConflicting'] as const).some((part) => differs(last[part], now[part]))
  );
}

/** To learn something for the first time is no change of it. */
function differs(last: unknown, now: unknown): boolean {
  return last !== undefined && now !== undefined && last !== now;
}
