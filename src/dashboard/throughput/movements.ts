/** Compares two snapshots of a repository to count opened and closed pull requests. */
import { MAX_PULL_REQUESTS } from '../forges/bounded.js';
import type { PullRequestFacts } from '../forges/facts.js';

export interface ComparedReading {
  /** In milliseconds. */
  readonly readAt: number;
  /** Whether pull requests may be missing from the snapshot. */
  readonly isCut: boolean;
  readonly pullRequests: readonly Pick<PullRequestFacts, 'createdAt' | 'number'>[];
}

export interface Movements {
  /** The time when each pull request was opened, in milliseconds. */
  readonly opened: readonly number[];
  /** The number of pull requests that were merged or closed. */
  readonly left: number;
}

/**
 * Compares a snapshot with the previous one.
 *
 * The creation time that the forge reports is clamped to the time between both snapshots, because a reopened pull
 * request was created earlier. After a truncated snapshot, only pull requests that were created later count as opened.
 */
export function findMovements(before: ComparedReading, after: ComparedReading): Movements {
  const [known, listed] = [numbersOf(before), numbersOf(after)];
  const opened = after.pullRequests.filter(
    (one) => !known.has(one.number) && (!isCut(before) || Date.parse(one.createdAt) > before.readAt),
  );
  const left = isCut(after) ? [] : before.pullRequests.filter(({ number }) => !listed.has(number));
  return { opened: opened.map((one) => openedAt(one, before, after)), left: left.length };
}

const numbersOf = ({ pullRequests }: ComparedReading): ReadonlySet<number> =>
  new Set(pullRequests.map(({ number }) => number));

const isCut = (reading: ComparedReading): boolean => reading.isCut || reading.pullRequests.length >= MAX_PULL_REQUESTS;

function openedAt(
  { createdAt }: Pick<PullRequestFacts, 'createdAt'>,
  before: ComparedReading,
  after: ComparedReading,
): number {
  const created = Date.parse(createdAt);
  return Number.isNaN(created) ? after.readAt : Math.min(Math.max(created, before.readAt), after.readAt);
}
