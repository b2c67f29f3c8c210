import type { ForgeRepository } from '../forges/forge.js';
import type { SnapshotMetadata } from './repository-snapshots.js';

export interface ReadPlan {
  /** The repositories on the board that have to be read. */
  readonly repositories: readonly ForgeRepository[];
  /** The repositories to read until the limit of pull requests on the board is reached. */
  readonly whenRoom: readonly ForgeRepository[];
  /** The number of pull requests in all other repositories. */
  readonly rest: number;
}

/**
 * Selects the repositories of a forge to read.
 *
 * @param share The share of unchanged repositories to read too, least recently read first, because some changes do not
 * change the revision, such as checks that run again.
 */
export function planRepositoryReads(
  found: readonly ForgeRepository[],
  known: readonly SnapshotMetadata[],
  share: number,
): ReadPlan {
  const knownById = new Map(known.map((one) => [one.repository_id, one]));
  const stale = new Set(listOldest(known, share).map(({ repository_id }) => repository_id));
  const repositories: ForgeRepository[] = [];
  const whenRoom: ForgeRepository[] = [];
  for (const repository of uniqueById(found)) {
    const before = knownById.get(repository.id);
    const isChanged = before?.revision !== repository.revision || before.is_unsettled === 1 || stale.has(repository.id);
    if (before === undefined || (before.is_cut === 1 && !(isChanged && before.pull_requests > 0))) {
      whenRoom.push(repository);
    } else if (isChanged) {
      repositories.push(repository);
    }
  }
  const read = new Set([...repositories, ...whenRoom].map(({ id }) => id));
  const others = known.filter(({ repository_id }) => !read.has(repository_id));
  return { repositories, whenRoom, rest: sum(others.map(({ pull_requests }) => pull_requests)) };
}

/** @param known Sorted, least recently read first. */
function listOldest(known: readonly SnapshotMetadata[], share: number): readonly SnapshotMetadata[] {
  const withChecks = known.filter(({ pull_requests }) => pull_requests > 0);
  return withChecks.slice(0, Math.ceil(withChecks.length * share));
}

/** Removes duplicates: a repository can move to the next page while pages are read. */
function uniqueById(repositories: readonly ForgeRepository[]): ForgeRepository[] {
  return [...new Map(repositories.map((one) => [one.id, one])).values()];
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
