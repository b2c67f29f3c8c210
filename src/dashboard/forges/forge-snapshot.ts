import type { ForgeRepository, RepositorySnapshot } from './model.js';
import { ForgeError } from './forge-error.js';
import type { ForgeSnapshot } from './forge.js';
import { mapWithConcurrency } from './map-with-concurrency.js';

/** The most pull requests of one forge on a board. */
export const MAX_PULL_REQUESTS = 1_000;

/** The most issues that are read of one repository, in pages of 50. */
export const MAX_ISSUES = 1_000;

/**
 * The most repositories of one forge on a board. Users with write access to more have it through a team and follow few.
 */
export const MAX_REPOSITORIES = 2_000;

/**
 * Builds a forge snapshot of at most {@link MAX_PULL_REQUESTS} pull requests. Drops those of the last repositories
 * first and sets `truncated` if it dropped any.
 */
export function truncateSnapshot(
  readings: readonly RepositorySnapshot[],
  unread: readonly string[] = [],
): ForgeSnapshot {
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
 * Reads each repository. A repository with an invalid response is listed in `unread`.
 *
 * @throws The error of the first invalid response when no repository could be read: then the fault is the forge's.
 */
export async function readRepositories(
  repositories: readonly ForgeRepository[],
  readWhole: (repository: ForgeRepository) => Promise<RepositorySnapshot | undefined>,
): Promise<ForgeSnapshot> {
  const odd = new Map<string, unknown>();
  const readings = await mapWithConcurrency(repositories, (repository) =>
    readWhole(repository).catch((error: unknown) => {
      if (!isInvalidResponse(error)) throw error;
      odd.set(repository.id, error);
      return undefined;
    }),
  );
  const found = readings.filter((reading) => reading !== undefined);
  if (found.length === 0) for (const error of odd.values()) throw error;
  return truncateSnapshot(found, [...odd.keys()]);
}

/** Reports whether a response could not be interpreted, rather than that the forge rejected or failed the request. */
export const isInvalidResponse = (error: unknown): boolean =>
  !(error instanceof ForgeError) || error.kind === 'unknown';

/** Removes duplicates by number: items may move to the next page while pages are read. */
export function uniqueByNumber<T extends { readonly number: number }>(items: readonly T[]): T[] {
  return [...new Map(items.map((item) => [item.number, item])).values()];
}
