import { findStacks } from '../../../../src/dashboard/forges/rules/board-rows.js';
import { forgePullRequest } from '../model-fixtures.js';

type Row = readonly [number: number, head: string, base: string, fork?: 'fork'];

/** Formats each stack position as `position/size on parent [children]`, or `-` outside stacks. */
function describeStacks(rows: readonly Row[]): Record<number, string> {
  const pullRequests = rows.map(([number, headBranch, baseBranch, fork]) =>
    forgePullRequest({ number, headBranch, baseBranch, crossRepository: fork !== undefined }),
  );
  return Object.fromEntries(
    [...findStacks(pullRequests)].map(([number, { stack, stackedOn, stackChildren }]) => {
      const on = stackedOn === null ? '' : ` on ${stackedOn.number}`;
      const under = stackChildren.length === 0 ? '' : ` [${stackChildren.join()}]`;
      return [number, stack === null ? `-${on}${under}` : `${stack.position}/${stack.size}${on}${under}`];
    }),
  );
}

test.each<[string, readonly Row[], Record<number, string>]>([
  ['a single pull request', [[1, 'a', 'main']], { 1: '-' }],
  [
    'two pull requests',
    [
      [1, 'a', 'main'],
      [2, 'b', 'a'],
    ],
    { 1: '1/2 [2]', 2: '2/2 on 1' },
  ],
  [
    'two pull requests, the upper one with the lower number',
    [
      [2, 'a', 'main'],
      [1, 'b', 'a'],
    ],
    { 1: '2/2 on 2', 2: '1/2 [1]' },
  ],
  [
    'a chain of three',
    [
      [1, 'a', 'main'],
      [2, 'b', 'a'],
      [3, 'c', 'b'],
    ],
    { 1: '1/3 [2]', 2: '2/3 on 1 [3]', 3: '3/3 on 2' },
  ],
  [
    'two on the same parent',
    [
      [1, 'a', 'main'],
      [3, 'c', 'a'],
      [2, 'b', 'a'],
    ],
    { 1: '1/3 [2,3]', 2: '2/3 on 1', 3: '2/3 on 1' },
  ],
  [
    'two separate stacks',
    [
      [1, 'a', 'main'],
      [2, 'b', 'a'],
      [3, 'c', 'main'],
      [4, 'd', 'c'],
    ],
    { 1: '1/2 [2]', 2: '2/2 on 1', 3: '1/2 [4]', 4: '2/2 on 3' },
  ],
  [
    'two possible parents with the same head branch',
    [
      [4, 'a', 'next'],
      [3, 'a', 'main'],
      [5, 'b', 'a'],
    ],
    { 3: '1/2 [5]', 4: '-', 5: '2/2 on 3' },
  ],
  [
    'a fork with the same head branch name',
    [
      [1, 'a', 'main', 'fork'],
      [2, 'b', 'a'],
    ],
    { 1: '-', 2: '-' },
  ],
  [
    'a fork with a matching base branch',
    [
      [1, 'a', 'main'],
      [2, 'b', 'a', 'fork'],
    ],
    { 1: '-', 2: '-' },
  ],
  ['a parent that has been merged', [[2, 'b', 'a']], { 2: '-' }],
  [
    'a cycle',
    [
      [1, 'a', 'b'],
      [2, 'b', 'a'],
    ],
    { 1: '-', 2: '-' },
  ],
  [
    'a pull request on top of a cycle',
    [
      [1, 'a', 'b'],
      [2, 'b', 'a'],
      [3, 'c', 'a'],
    ],
    { 1: '-', 2: '-', 3: '-' },
  ],
  ['a pull request on itself', [[1, 'a', 'a']], { 1: '-' }],
  [
    'unknown branches',
    [
      [1, '', ''],
      [2, '', ''],
    ],
    { 1: '-', 2: '-' },
  ],
])('findStacks: %s', (_reason, rows, places) => {
  expect(describeStacks(rows)).toEqual(places);
});
