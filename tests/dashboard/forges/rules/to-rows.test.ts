import type { PullRequestFacts } from '../../../../src/dashboard/forges/facts.js';
import { toRows } from '../../../../src/dashboard/forges/rules/to-rows.js';
import { facts, issueFacts } from '../facts.js';

const reader = { forge: 'github', username: 'Mona', renovateAuthors: ['acme-updates'] } as const;
const rowOf = (change: Partial<PullRequestFacts>, username = 'Mona') =>
  toRows({ pullRequests: [facts(change)], issues: [] }, { ...reader, username }).pullRequests[0]!;
const releaseLabel = { name: 'autorelease: pending', color: 'ededed' };

test.each<[string, Partial<PullRequestFacts>, string]>([
  ['anybody', {}, 'regular'],
  ['dependabot', { author: 'dependabot' }, 'dependency'],
  ['dependabot[bot]', { author: 'dependabot[bot]' }, 'dependency'],
  ['renovate', { author: 'renovate' }, 'dependency'],
  ['renovate[bot]', { author: 'Renovate[bot]' }, 'dependency'],
  ['a listed account', { author: 'ACME-updates' }, 'dependency'],
  ['somebody with a similar name', { author: 'renovate-fan' }, 'regular'],
  ['anybody, with the label of a release', { labels: [releaseLabel] }, 'release'],
  ['a bot, with the label of a release', { author: 'renovate', labels: [releaseLabel] }, 'release'],
])('tells the kind of what %s opened', (_author, change, kind) => {
  expect(rowOf(change).kind).toBe(kind);
});

test.each<[string, Partial<PullRequestFacts>, boolean]>([
  ['mergeable with green checks', {}, true],
  ['a draft', { draft: true }, false],
  ['without checks', { ci: 'none' }, false],
  ['with red checks', { ci: 'failure' }, false],
  ['unstable', { mergeStatus: 'unstable' }, false],
  ['blocked', { mergeStatus: 'blocked' }, false],
])('tells whether one is ready to merge when %s', (_reason, change, ready) => {
  expect(rowOf(change).readyToMerge).toBe(ready);
});

const review = (decision: 'approved' | 'changes_requested' | 'none' | 'review_required', requestedReviewers = 0) => ({
  review: { decision, approvals: 0, requestedReviewers },
});

test.each<[string, Partial<PullRequestFacts>, boolean]>([
  ['one is required', review('review_required'), true],
  ['somebody is asked', review('none', 1), true],
  ['nobody is asked', review('none'), false],
  ['it is approved, and somebody is asked', review('approved', 1), false],
  ['changes are asked for', review('changes_requested', 1), false],
  ['it is unknown', {}, false],
  ['it is a draft', { ...review('review_required', 1), draft: true }, false],
])('tells whether a review is needed when %s', (_reason, change, needed) => {
  expect(rowOf(change).needsReview).toBe(needed);
});

test.each<[string, Partial<PullRequestFacts>, string, boolean]>([
  ['they are among those asked, in another case', { requestedReviewerLogins: ['lisa', 'mona'] }, 'Mona', true],
  ['others are asked', { requestedReviewerLogins: ['lisa'] }, 'Mona', false],
  ['they did not say who they are', { requestedReviewerLogins: [''] }, '', false],
  ['it is a draft', { requestedReviewerLogins: ['mona'], draft: true }, 'Mona', false],
])('tells whether the reader is asked for a review when %s', (_reason, change, username, asked) => {
  expect(rowOf(change, username).reviewRequestedFromMe).toBe(asked);
});

test.each<[string, string, string, boolean]>([
  ["Renovate's list", 'renovate[bot]', 'Dependency Dashboard', true],
  ['that of a listed account', 'acme-updates', 'Dependency Dashboard', true],
  ['another issue of Renovate', 'renovate[bot]', 'Action Required: Fix Renovate Configuration', false],
  ['an issue of anybody with that title', 'mona', 'Dependency Dashboard', false],
  ['an issue of Dependabot with that title', 'dependabot[bot]', 'Dependency Dashboard', false],
])('tells housekeeping by author and title: %s', (_reason, author, title, housekeeping) => {
  const { issues } = toRows({ pullRequests: [], issues: [issueFacts({ author, title })] }, reader);
  expect(issues).toEqual([{ ...issueFacts({ author, title }), forge: 'github', housekeeping }]);
});

test('judges actions by the place in a stack', () => {
  const pullRequests = [facts({ number: 1, headBranch: 'a' }), facts({ number: 2, baseBranch: 'a' })];
  const [lower, upper] = toRows({ pullRequests, issues: [] }, reader).pullRequests;
  expect(lower?.allowedActions[0]).toEqual({ action: 'merge' });
  expect(upper?.allowedActions[0]?.blocked?.code).toBe('stacked');
  expect(upper?.stackedOn).toEqual({ number: 1, url: pullRequests[0]?.url });
});
