import { toBoardRows } from '../../../../src/dashboard/forges/board-rows.js';
import type { PullRequest, ForgePullRequest } from '../../../../src/dashboard/forges/forge.js';
import { forgePullRequest } from '../model-fixtures.js';

type Section = PullRequest['section'];

/** Returns the section on Mona's board, which has repositories of Mona and of acme. */
const sectionOf = (change: Partial<ForgePullRequest>, username = 'Mona'): Section => {
  const reader = { forge: 'github', username, renovateAuthors: ['acme-updates'] } as const;
  return toBoardRows({ pullRequests: [forgePullRequest(change)], issues: [] }, reader).pullRequests[0]!.section;
};

const reviewed = (decision: NonNullable<ForgePullRequest['review']>['decision'], approvals = 0) => ({
  review: { decision, approvals, requestedReviewers: 0 },
});
const asked = (...logins: string[]) => ({
  requestedReviewerLogins: logins,
  review: { decision: 'none' as const, approvals: 0, requestedReviewers: logins.length },
});
const ofTeam = {
  requestedReviewerLogins: [],
  review: { decision: 'none' as const, approvals: 0, requestedReviewers: 1 },
};

const lisas = { author: 'lisa' };
const inMonas = { repo: 'mona/garden' };
const bots = { author: 'renovate[bot]' };

test.each<[string, Partial<ForgePullRequest>, Section]>([
  ['a draft', { draft: true }, 'drafts'],
  ['your own draft that fails', { draft: true, ci: 'failure' }, 'drafts'],
  ["another user's draft that requests your review", { ...lisas, draft: true, ...asked('mona') }, 'drafts'],

  ['your review is requested', { ...lisas, ...asked('mona') }, 'needs_your_review'],
  ['your review is requested among others', { ...lisas, ...asked('hubot', 'MONA') }, 'needs_your_review'],
  ['your review is requested and checks fail', { ...lisas, ...asked('mona'), ci: 'failure' }, 'needs_your_review'],
  [
    'your review is requested again',
    { ...lisas, ...asked('mona'), ...reviewed('changes_requested') },
    'needs_your_review',
  ],
  ["another user's review is requested", { ...lisas, ...asked('hubot') }, 'waiting_for_others'],
  ["a team's review is requested", { ...lisas, ...ofTeam }, 'waiting_for_others'],
  ['you have reviewed and another review is pending', { ...lisas, ...asked('hubot') }, 'waiting_for_others'],

  ['your own with failed checks', { ci: 'failure' }, 'returned_to_you'],
  ['your own with an author name in a different case', { author: 'MONA', ci: 'failure' }, 'returned_to_you'],
  ['your own with conflicts', { mergeStatus: 'conflicting' }, 'returned_to_you'],
  ['your own with requested changes', reviewed('changes_requested'), 'returned_to_you'],
  ['your own that is blocked because it is behind', { behind: true, mergeStatus: 'blocked' }, 'returned_to_you'],
  ['your own that is behind, but mergeable', { behind: true }, 'ready_to_merge'],
  ['your own without changes', { empty: true }, 'returned_to_you'],
  ["another user's with failed checks", { ...lisas, ci: 'failure' }, 'waiting_for_others'],
  ["another user's with conflicts", { ...lisas, mergeStatus: 'conflicting' }, 'waiting_for_others'],
  ["another user's with requested changes", { ...lisas, ...reviewed('changes_requested') }, 'waiting_for_others'],

  ["a bot's with failed checks in your repository", { ...bots, ...inMonas, ci: 'failure' }, 'returned_to_you'],
  ["a configured bot's with failed checks", { author: 'acme-updates', ...inMonas, ci: 'failure' }, 'returned_to_you'],
  ["any bot's with failed checks", { author: 'pre-commit-ci[bot]', ...inMonas, ci: 'failure' }, 'returned_to_you'],
  [
    "a bot's with conflicts, which the bot resolves",
    { ...bots, ...inMonas, mergeStatus: 'conflicting' },
    'waiting_for_others',
  ],
  ["a bot's with failed checks in an organization", { ...bots, ci: 'failure' }, 'waiting_for_others'],
  ["a bot's that is mergeable", { ...bots, ...inMonas }, 'ready_to_merge'],

  ["another user's in your repository, without checks", { ...lisas, ...inMonas, ci: 'none' }, 'needs_your_review'],
  [
    "another user's in your repository, with a required review",
    { ...lisas, ...inMonas, mergeStatus: 'blocked', ...reviewed('review_required') },
    'needs_your_review',
  ],
  ["another user's in your repository, mergeable", { ...lisas, ...inMonas }, 'ready_to_merge'],
  ["another user's in your repository, checks running", { ...lisas, ...inMonas, ci: 'pending' }, 'waiting_for_others'],
  ["another user's in your repository, checks failed", { ...lisas, ...inMonas, ci: 'failure' }, 'waiting_for_others'],
  [
    "another user's in your repository, with conflicts",
    { ...lisas, ...inMonas, mergeStatus: 'conflicting' },
    'waiting_for_others',
  ],
  [
    "another user's in your repository, with a different reviewer requested",
    { ...lisas, ...inMonas, ci: 'none', ...asked('hubot') },
    'waiting_for_others',
  ],
  [
    "another user's in your repository, with requested changes",
    { ...lisas, ...inMonas, ci: 'none', ...reviewed('changes_requested') },
    'waiting_for_others',
  ],
  [
    "another user's in your repository, approved",
    { ...lisas, ...inMonas, ci: 'none', ...reviewed('approved', 1) },
    'ready_to_merge',
  ],
  ["another user's without checks in an organization", { ...lisas, ci: 'none' }, 'ready_to_merge'],
  ['your own without checks in your repository', { ...inMonas, ci: 'none' }, 'ready_to_merge'],

  ['a mergeable pull request', {}, 'ready_to_merge'],
  ['an approval with a pending reviewer', { ...asked('hubot'), ...reviewed('approved', 1) }, 'ready_to_merge'],
  ['failed optional checks', { mergeStatus: 'unstable' }, 'ready_to_merge'],
  ['running optional checks', { mergeStatus: 'unstable', ci: 'pending' }, 'waiting_for_others'],
  ['your own with running checks', { ci: 'pending' }, 'waiting_for_others'],
  ['your own with a required review', { mergeStatus: 'blocked', ...reviewed('review_required') }, 'waiting_for_others'],
  ['your own, mergeable, with a requested reviewer', asked('hubot'), 'waiting_for_others'],
  ['a block for any other reason', { mergeStatus: 'blocked' }, 'waiting_for_others'],
  ['unknown mergeability', { mergeStatus: 'unknown' }, 'waiting_for_others'],
])('findSection: %s', (_what, change, section) => {
  expect(sectionOf(change)).toBe(section);
});

test.each<[string, Partial<ForgePullRequest>, Section]>([
  ['failed checks', { ci: 'failure' }, 'waiting_for_others'],
  ['a requested reviewer', asked(''), 'waiting_for_others'],
  ['a mergeable pull request', {}, 'ready_to_merge'],
])('findSection: matches no user if the viewer has no username: %s', (_what, change, section) => {
  expect(sectionOf({ author: '', repo: '/x', ...change }, '')).toBe(section);
});

test('findSection: a stacked pull request waits for the one below it', () => {
  const reader = { forge: 'github', username: 'Mona', renovateAuthors: [] } as const;
  const pullRequests = [
    forgePullRequest({ number: 1, headBranch: 'a' }),
    forgePullRequest({ number: 2, baseBranch: 'a' }),
  ];
  const sections = toBoardRows({ pullRequests, issues: [] }, reader).pullRequests.map(({ section }) => section);
  expect(sections).toEqual(['ready_to_merge', 'waiting_for_others']);
});
