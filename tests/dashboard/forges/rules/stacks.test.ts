import { findStacks } from '../../../../src/dashboard/forges/rules/stacks.js';
import { facts } from '../facts.js';

type Row = readonly [number: number, head: string, base: string, fork?: 'fork'];

/** `position/size on parent [children]`, or `-` for none. */
function describeStacks(rows: readonly Row[]): Record<number, string> {
  const pullRequests = rows.map(([number, headBranch, baseBranch, fork]) =>
    facts({ number, headBranch, baseBranch, crossRepository: fork !== undefined }),
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
  ['one alone', [[1, 'a', 'main']], { 1: '-' }],
  [
    'one on another',
    [
      [1, 'a', 'main'],
      [2, 'b', 'a'],
    ],
    { 1: '1/2 [2]', 2: '2/2 on 1' },
  ],
  [
    'any order of numbers',
    [
      [2, 'a', 'main'],
      [1, 'b', 'a'],
    ],
    { 1: '2/2 on 2', 2: '1/2 [1]' },
  ],
  [
    'three, one by one',
    [
      [1, 'a', 'main'],
      [2, 'b', 'a'],
      [3, 'c', 'b'],
    ],
    { 1: '1/3 [2]', 2: '2/3 on 1 [3]', 3: '3/3 on 2' },
  ],
  [
    'two on the same',
    [
      [1, 'a', 'main'],
      [3, 'c', 'a'],
      [2, 'b', 'a'],
    ],
    { 1: '1/3 [2,3]', 2: '2/3 on 1', 3: '2/3 on 1' },
  ],
  [
    'two stacks',
    [
      [1, 'a', 'main'],
      [2, 'b', 'a'],
      [3, 'c', 'main'],
      [4, 'd', 'c'],
    ],
    { 1: '1/2 [2]', 2: '2/2 on 1', 3: '1/2 [4]', 4: '2/2 on 3' },
  ],
  [
    'the lowest of two with one head',
    [
      [4, 'a', 'next'],
      [3, 'a', 'main'],
      [5, 'b', 'a'],
    ],
    { 3: '1/2 [5]', 4: '-', 5: '2/2 on 3' },
  ],
  [
    'a fork with a head of the same name',
    [
      [1, 'a', 'main', 'fork'],
      [2, 'b', 'a'],
    ],
    { 1: '-', 2: '-' },
  ],
  [
    'a fork on another',
    [
      [1, 'a', 'main'],
      [2, 'b', 'a', 'fork'],
    ],
    { 1: '-', 2: '-' },
  ],
  ['a merged one below', [[2, 'b', 'a']], { 2: '-' }],
  [
    'a circle',
    [
      [1, 'a', 'b'],
      [2, 'b', 'a'],
    ],
    { 1: '-', 2: '-' },
  ],
  [
    'one on a circle',
    [
      [1, 'a', 'b'],
      [2, 'b', 'a'],
      [3, 'c', 'a'],
    ],
    { 1: '-', 2: '-', 3: '-' },
  ],
  ['one on itself', [[1, 'a', 'a']], { 1: '-' }],
  [
    'branches that the forge does not tell',
    [
      [1, '', ''],
      [2, '', ''],
    ],
    { 1: '-', 2: '-' },
  ],
])('finds the stacks of %s', (_reason, rows, places) => {
  expect(describeStacks(rows)).toEqual(places);
});
