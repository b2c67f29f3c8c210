import type { PullRequest } from '../model.js';

type Stacked = Pick<PullRequest, 'baseBranch' | 'crossRepository' | 'headBranch' | 'number' | 'url'>;
export type StackPosition = Pick<PullRequest, 'stack' | 'stackChildren' | 'stackedOn'>;

const ALONE: StackPosition = { stack: null, stackedOn: null, stackChildren: [] };

/**
 * Finds the stacks among the open pull requests of one repository. A pull request is stacked on the one whose head
 * branch is its base branch. Positions count from the lowest, and `size` counts all pull requests above the same lowest
 * one, including it. Pull requests from forks are never stacked, as their branches are in another repository. Cycles
 * are not stacks.
 */
export function findStacks(pullRequests: readonly Stacked[]): Map<number, StackPosition> {
  const parents = findParents(pullRequests);
  const chains = new Map(pullRequests.map((one) => [one.number, chainOf(one, parents)]));
  const stacked = pullRequests.filter(({ number }) => chains.get(number) !== undefined);
  const rootOf = ({ number }: Stacked): number => chains.get(number)?.at(-1)?.number ?? number;
  return new Map(
    pullRequests.map((one) => {
      const chain = chains.get(one.number);
      const size = stacked.filter((other) => rootOf(other) === rootOf(one)).length;
      if (chain === undefined || size < 2) return [one.number, ALONE];
      const children = stacked.filter((other) => parents.get(other.number) === one);
      return [one.number, toPlace(chain, { size, children })];
    }),
  );
}

function toPlace(
  [, parent, ...below]: readonly Stacked[],
  { size, children }: { readonly size: number; readonly children: readonly Stacked[] },
): StackPosition {
  return {
    stack: { position: parent === undefined ? 1 : below.length + 2, size },
    stackedOn: parent === undefined ? null : { number: parent.number, url: parent.url },
    stackChildren: children.map(({ number }) => number).sort((a, b) => a - b),
  };
}

/** Maps each pull request to its parent. If several have the same head branch, the lowest number is the parent. */
function findParents(pullRequests: readonly Stacked[]): Map<number, Stacked> {
  const own = pullRequests.filter(({ crossRepository }) => !crossRepository);
  const byHead = new Map<string, Stacked>();
  for (const one of own.toSorted((a, b) => b.number - a.number)) {
    // The name is empty if the forge did not report the branch.
    if (one.headBranch !== '') byHead.set(one.headBranch, one);
  }
  const found = new Map<number, Stacked>();
  for (const { number, baseBranch } of own) {
    const parent = byHead.get(baseBranch);
    if (parent !== undefined) found.set(number, parent);
  }
  return found;
}

/** Returns a pull request and those below it, down to the lowest, or `undefined` for a cycle. */
function chainOf(start: Stacked, parents: ReadonlyMap<number, Stacked>): readonly Stacked[] | undefined {
  const chain = [start];
  for (let next = parents.get(start.number); next !== undefined; next = parents.get(next.number)) {
    if (chain.includes(next)) return undefined;
    chain.push(next);
  }
  return chain;
}
