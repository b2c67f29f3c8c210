import type { ForgeRepository } from '../forges/facts.js';
import type { Known } from './readings.js';

export interface Plan {
  /** What has to be read, as it is on the board. */
  readonly repositories: readonly ForgeRepository[];
  /** What is read as long as the board takes more pull requests. */
  readonly whenRoom: readonly ForgeRepository[];
  /** How many pull requests there are of all that is not read. */
  readonly rest: number;
}

/**
 * Picks what is to be read of the repositories that a forge has.
 *
 * @param share Which part of the others is read too, those first that were not for the longest time: when checks run
 * again, or a server's clock jumps, no revision tells.
 */
export function planReading(found: readonly ForgeRepository[], known: readonly Known[], share: number): Plan {
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

/** @param known Those first that were not read for the longest time. */
function listOldest(known: readonly Known[], share: number): readonly Known[] {
  const withChecks = known.filter(({ pull_requests }) => pull_requests > 0);
  return withChecks.slice(0, Math.ceil(withChecks.length * share));
}

/** While pages are read, what is on one may move to the next. */
function uniqueById(repositories: readonly ForgeRepository[]): ForgeRepository[] {
  return [...new Map(repositories.map((one) => [one.id, one])).values()];
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
