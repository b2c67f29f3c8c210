import { findStacks, toBoardRows } from '../../../../src/dashboard/forges/board-rows.js';
import type { ForgePullRequest } from '../../../../src/dashboard/forges/forge.js';
import { forgeIssue, forgePullRequest } from '../model-fixtures.js';

const reader = { forge: 'github', username: 'Mona', renovateAuthors: ['acme-updates'] } as const;
const rowOf = (change: Partial<ForgePullRequest>, username = 'Mona') =>
  toBoardRows({ pullRequests: [forgePullRequest(change)], issues: [] }, { ...reader, username }).pullRequests[0]!;
const releaseLabel = { name: 'autorelease: pending', color: 'ededed' };

test.each<[string, Partial<ForgePullRequest>, string]>([
  ['a user', {}, 'regular'],
  ['dependabot', { author: 'dependabot' }, 'dependency'],
  ['dependabot[bot]', { author: 'dependabot[bot]' }, 'dependency'],
  ['renovate', { author: 'renovate' }, 'dependency'],
  ['renovate[bot]', { author: 'Renovate[bot]' }, 'dependency'],
  ['a configured account', { author: 'ACME-updates' }, 'dependency'],
  ['a user with a similar name', { author: 'renovate-fan' }, 'regular'],
  ['a user, with a release label', { labels: [releaseLabel] }, 'release'],
  ['a bot, with a release label', { author: 'renovate', labels: [releaseLabel] }, 'release'],
])('toBoardRows: sets kind for a pull request of %s', (_author, change, kind) => {
  expect(rowOf(change).kind).toBe(kind);
});

test.each<[string, Partial<ForgePullRequest>, boolean]>([
  ['mergeable with passed checks', {}, true],
  ['a draft', { draft: true }, false],
  ['without checks', { ci: 'none' }, false],
  ['with failed checks', { ci: 'failure' }, false],
  ['unstable', { mergeStatus: 'unstable' }, false],
  ['blocked', { mergeStatus: 'blocked' }, false],
])('toBoardRows: sets readyToMerge for a pull request that is %s', (_reason, change, ready) => {
  expect(rowOf(change).readyToMerge).toBe(ready);
});

const review = (decision: 'approved' | 'changes_requested' | 'none' | 'review_required', requestedReviewers = 0) => ({
  review: { decision, approvals: 0, requestedReviewers },
});

test.each<[string, Partial<ForgePullRequest>, boolean]>([
  ['a review is required', review('review_required'), true],
  ['a reviewer is requested', review('none', 1), true],
  ['no reviewer is requested', review('none'), false],
  ['it is approved and a reviewer is requested', review('approved', 1), false],
  ['changes are requested', review('changes_requested', 1), false],
  ['the review state is unknown', {}, false],
  ['it is a draft', { ...review('review_required', 1), draft: true }, false],
])('toBoardRows: sets needsReview when %s', (_reason, change, needed) => {
  expect(rowOf(change).needsReview).toBe(needed);
});

test.each<[string, Partial<ForgePullRequest>, string, boolean]>([
  [
    'the viewer is among the reviewers, in a different case',
    { requestedReviewerLogins: ['lisa', 'mona'] },
    'Mona',
    true,
  ],
  ['other reviewers are requested', { requestedReviewerLogins: ['lisa'] }, 'Mona', false],
  ['the viewer has no username', { requestedReviewerLogins: [''] }, '', false],
  ['it is a draft', { requestedReviewerLogins: ['mona'], draft: true }, 'Mona', false],
])('toBoardRows: sets reviewRequestedFromMe when %s', (_reason, change, username, asked) => {
  expect(rowOf(change, username).reviewRequestedFromMe).toBe(asked);
});

test.each<[string, string, string, boolean]>([
  ["Renovate's dependency dashboard", 'renovate[bot]', 'Dependency Dashboard', true],
  ['the dependency dashboard of a configured account', 'acme-updates', 'Dependency Dashboard', true],
  ['any other issue of Renovate', 'renovate[bot]', 'Action Required: Fix Renovate Configuration', false],
  ["a user's issue with that title", 'mona', 'Dependency Dashboard', false],
  ["Dependabot's issue with that title", 'dependabot[bot]', 'Dependency Dashboard', false],
])('toBoardRows: sets housekeeping by author and title: %s', (_reason, author, title, housekeeping) => {
  const { issues } = toBoardRows({ pullRequests: [], issues: [forgeIssue({ author, title })] }, reader);
  expect(issues).toEqual([{ ...forgeIssue({ author, title }), forge: 'github', housekeeping }]);
});

test('toBoardRows: blocks merging of a stacked pull request', () => {
  const pullRequests = [
    forgePullRequest({ number: 1, headBranch: 'a' }),
    forgePullRequest({ number: 2, baseBranch: 'a' }),
  ];
  const [lower, upper] = toBoardRows({ pullRequests, issues: [] }, reader).pullRequests;
  expect(lower?.allowedActions[0]).toEqual({ action: 'merge' });
  expect(upper?.allowedActions[0]?.blocked?.code).toBe('stacked');
  expect(upper?.stackedOn).toEqual({ number: 1, url: pullRequests[0]?.url });
});

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
