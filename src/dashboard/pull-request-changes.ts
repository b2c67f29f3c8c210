/** The time of the last relevant change of each pull request on a board. */
import { pullRequestKey } from './actions/local-state.js';
import type { PullRequest } from './forges/forge.js';

/** The values whose changes are relevant. Values that the forge doesn't currently report are missing. */
interface State {
  readonly updatedAt: string;
  readonly ci?: PullRequest['ci'];
  readonly headSha?: string;
  readonly decision?: string;
  readonly isConflicting?: boolean;
}

export interface Change extends State {
  /** The time of the first board with this state, in milliseconds. */
  readonly at: number;
}

/** Keyed by {@link pullRequestKey}. */
export type Changes = Readonly<Record<string, Change>>;

export const toPullRequestKey = ({ forge, repo, number }: Pick<PullRequest, 'forge' | 'number' | 'repo'>): string =>
  pullRequestKey(forge, repo, number);

/** Returns the changes of the next board, given those of the previous one. New pull requests count as changed. */
export function updateLastChanged(before: Changes, pullRequests: readonly PullRequest[], at: number): Changes {
  return Object.fromEntries(
    pullRequests.map((one) => {
      const key = toPullRequestKey(one);
      return [key, noteChange(before[key], toState(one), at)];
    }),
  );
}

function noteChange(last: Change | undefined, state: State, at: number): Change {
  if (last === undefined) return { ...state, at };
  // Values that are missing now keep their last known state.
  return { ...last, ...state, at: isChange(last, state) ? at : last.at };
}

function toState({ headSha, updatedAt, ci, ciKnown, review, mergeStatus }: PullRequest): State {
  return {
    updatedAt,
    ...(ciKnown === false ? {} : { ci }),
    ...(headSha === '' ? {} : { headSha }),
    ...(review && { decision: review.decision }),
    // The other merge states follow from checks and reviews, which are compared separately.
    ...(mergeStatus === 'unknown' ? {} : { isConflicting: mergeStatus === 'conflicting' }),
  };
}

/** Checks that start are not a change; only their result is. */
function isChange(last: State, now: State): boolean {
  return (
    Date.parse(last.updatedAt) !== Date.parse(now.updatedAt) ||
    (differs(last.ci, now.ci) && now.ci !== 'pending') ||
    (['headSha', 'decision', 'isConflicting'] as const).some((part) => differs(last[part], now[part]))
  );
}

/** A value that becomes known for the first time has not changed. */
function differs(last: unknown, now: unknown): boolean {
  return last !== undefined && now !== undefined && last !== now;
}
