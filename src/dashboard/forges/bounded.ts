import type { RepositoryReading } from './facts.js';
import type { Reading } from './forge.js';

/** What one board shows of a forge at most. */
export const MAX_PULL_REQUESTS = 1_000;

/** What is read of one repository at most; each page has 50. */
export const MAX_ISSUES = 1_000;

/** Whoever may write to more does so by a team, and follows few of them. */
export const MAX_REPOSITORIES = 2_000;

/** Leaves out the pull requests that are too many, of the last repositories first, and says whether there were. */
export function toReadingWithin(readings: readonly RepositoryReading[], most = MAX_PULL_REQUESTS): Reading {
  let left = most;
  let truncated = false;
  const repositories = readings.map((reading) => {
    const pullRequests = reading.pullRequests.slice(0, left);
    left -= pullRequests.length;
    truncated ||= pullRequests.length < reading.pullRequests.length;
    return { ...reading, pullRequests };
  });
  return { repositories, truncated };
}

/** While pages are read, what is on one may move to the next. */
export function unique<T extends { readonly number: number }>(items: readonly T[]): T[] {
  return [...new Map(items.map((item) => [item.number, item])).values()];
}
