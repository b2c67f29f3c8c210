/** What came to a repository and left it, as two readings of it tell. */
import { MAX_PULL_REQUESTS } from '../forges/bounded.js';
import type { PullRequestFacts } from '../forges/facts.js';

export interface ComparedReading {
  /** In milliseconds. */
  readonly readAt: number;
  /** What is missing may be there all the same. */
  readonly isCut: boolean;
  readonly pullRequests: readonly Pick<PullRequestFacts, 'createdAt' | 'number'>[];
}

export interface Movements {
  /** When each was opened, in milliseconds. */
  readonly opened: readonly number[];
  /** How many were merged or closed. */
  readonly left: number;
}

/**
 * Compares a reading with the one before.
 *
 * What came was opened between the two, when the forge says so: one that was opened again was created long before. Next
 * to a reading that was cut, only what is younger than that is known to have come.
 */
export function findMovements(before: ComparedReading, after: ComparedReading): Movements {
  const [known, listed] = [numbersOf(before), numbersOf(after)];
  const came = after.pullRequests.filter(
    (one) => !known.has(one.number) && (!isCut(before) || Date.parse(one.createdAt) > before.readAt),
  );
  const left = isCut(after) ? [] : before.pullRequests.filter(({ number }) => !listed.has(number));
  return { opened: came.map((one) => openedAt(one, before, after)), left: left.length };
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
