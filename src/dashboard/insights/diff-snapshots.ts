/** Compares two snapshots of a repository to count opened and closed pull requests. */
import { MAX_PULL_REQUESTS } from '../forges/read-repositories.js';
import type { ForgePullRequest } from '../forges/forge.js';

export interface ComparedSnapshot {
  /** In milliseconds. */
  readonly readAt: number;
  /** Whether pull requests may be missing from the snapshot. */
  readonly isTruncated: boolean;
  readonly pullRequests: readonly Pick<ForgePullRequest, 'createdAt' | 'number'>[];
}

export interface SnapshotDiff {
  /** The time when each pull request was opened, in milliseconds. */
  readonly opened: readonly number[];
  /** The number of pull requests that were merged or closed. */
  readonly closed: number;
}

/**
 * Compares a snapshot with the previous one.
 *
 * The creation time that the forge reports is clamped to the time between both snapshots, because a reopened pull
 * request was created earlier. After a truncated snapshot, only pull requests that were created later count as opened.
 */
export function diffSnapshots(before: ComparedSnapshot, after: ComparedSnapshot): SnapshotDiff {
  const [known, listed] = [numbersOf(before), numbersOf(after)];
  const opened = after.pullRequests.filter(
    (one) => !known.has(one.number) && (!isTruncated(before) || Date.parse(one.createdAt) > before.readAt),
  );
  const left = isTruncated(after) ? [] : before.pullRequests.filter(({ number }) => !listed.has(number));
  return { opened: opened.map((one) => openedAt(one, before, after)), closed: left.length };
}

const numbersOf = ({ pullRequests }: ComparedSnapshot): ReadonlySet<number> =>
  new Set(pullRequests.map(({ number }) => number));

const isTruncated = (reading: ComparedSnapshot): boolean =>
  reading.isTruncated || reading.pullRequests.length >= MAX_PULL_REQUESTS;

function openedAt(
  { createdAt }: Pick<ForgePullRequest, 'createdAt'>,
  before: ComparedSnapshot,
  after: ComparedSnapshot,
): number {
  const created = Date.parse(createdAt);
  return Number.isNaN(created) ? after.readAt : Math.min(Math.max(created, before.readAt), after.readAt);
}
