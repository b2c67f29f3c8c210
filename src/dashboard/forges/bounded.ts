import type { ForgeRepository, RepositoryReading } from './facts.js';
import { ForgeError } from './forge-error.js';
import type { Reading } from './forge.js';
import { mapInChunks } from './in-chunks.js';

/** What one board shows of a forge at most. */
export const MAX_PULL_REQUESTS = 1_000;

/** What is read of one repository at most; each page has 50. */
export const MAX_ISSUES = 1_000;

/** Whoever may write to more does so by a team, and follows few of them. */
export const MAX_REPOSITORIES = 2_000;

/** Leaves out the pull requests that are too many, of the last repositories first, and says whether there were. */
export function toReadingWithin(readings: readonly RepositoryReading[], unread: readonly string[] = []): Reading {
  let left = MAX_PULL_REQUESTS;
  let truncated = false;
  const repositories = readings.map((reading) => {
    const pullRequests = reading.pullRequests.slice(0, left);
    left -= pullRequests.length;
    truncated ||= pullRequests.length < reading.pullRequests.length;
    return { ...reading, pullRequests };
  });
  return { repositories, truncated, unread };
}

/**
 * Reads each repository. One whose answers have an odd shape is unread.
 *
 * @throws The error of an odd shape when nothing else was read: then it is the forge that is odd.
 */
export async function readEach(
  repositories: readonly ForgeRepository[],
  readWhole: (repository: ForgeRepository) => Promise<RepositoryReading | undefined>,
): Promise<Reading> {
  const odd = new Map<string, unknown>();
  const readings = await mapInChunks(repositories, (repository) =>
    readWhole(repository).catch((error: unknown) => {
      if (!isOdd(error)) throw error;
      odd.set(repository.id, error);
      return undefined;
    }),
  );
  const found = readings.filter((reading) => reading !== undefined);
  if (found.length === 0) for (const error of odd.values()) throw error;
  return toReadingWithin(found, [...odd.keys()]);
}

/** Whether an answer came that could not be understood, or that our reading of it tripped over. */
export const isOdd = (error: unknown): boolean => !(error instanceof ForgeError) || error.kind === 'unknown';

/** While pages are read, what is on one may move to the next. */
export function unique<T extends { readonly number: number }>(items: readonly T[]): T[] {
  return [...new Map(items.map((item) => [item.number, item])).values()];
}
