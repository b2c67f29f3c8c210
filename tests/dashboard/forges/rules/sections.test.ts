import type { PullRequest, PullRequestFacts } from '../../../../src/dashboard/forges/facts.js';
import { toRows } from '../../../../src/dashboard/forges/rules/to-rows.js';
import { facts } from '../facts.js';

type Section = PullRequest['section'];

/** Mona's board, which has repositories of hers and of acme. */
const sectionOf = (change: Partial<PullRequestFacts>, username = 'Mona'): Section => {
  const reader = { forge: 'github', username, renovateAuthors: ['acme-updates'] } as const;
  return toRows({ pullRequests: [facts(change)], issues: [] }, reader).pullRequests[0]!.section;
};

const reviewed = (decision: NonNullable<PullRequestFacts['review']>['decision'], approvals = 0) => ({
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

test.each<[string, Partial<PullRequestFacts>, Section]>([
  ['a draft', { draft: true }, 'drafts'],
  ['a draft that fails, of oneself', { draft: true, ci: 'failure' }, 'drafts'],
  ['a draft of another that asks oneself', { ...lisas, draft: true, ...asked('mona') }, 'drafts'],

  ['one that asks oneself', { ...lisas, ...asked('mona') }, 'needs_your_review'],
  ['one that asks oneself among others', { ...lisas, ...asked('hubot', 'MONA') }, 'needs_your_review'],
  ['one that asks oneself though it fails', { ...lisas, ...asked('mona'), ci: 'failure' }, 'needs_your_review'],
  [
    'one that asks oneself again',
    { ...lisas, ...asked('mona'), ...reviewed('changes_requested') },
    'needs_your_review',
  ],
  ['one that asks another', { ...lisas, ...asked('hubot') }, 'waiting_for_others'],
  ['one that asks a team', { ...lisas, ...ofTeam }, 'waiting_for_others'],
  ['one that oneself has reviewed, and another has not', { ...lisas, ...asked('hubot') }, 'waiting_for_others'],

  ["one's own that fails", { ci: 'failure' }, 'returned_to_you'],
  ["one's own in other letters", { author: 'MONA', ci: 'failure' }, 'returned_to_you'],
  ["one's own that conflicts", { mergeStatus: 'conflicting' }, 'returned_to_you'],
  ["one's own that changes are asked for", reviewed('changes_requested'), 'returned_to_you'],
  ["one's own that is kept back behind its base", { behind: true, mergeStatus: 'blocked' }, 'returned_to_you'],
  ["one's own that is behind, and can be merged all the same", { behind: true }, 'ready_to_merge'],
  ["one's own that would change nothing", { empty: true }, 'returned_to_you'],
  ["another's that fails", { ...lisas, ci: 'failure' }, 'waiting_for_others'],
  ["another's that conflicts", { ...lisas, mergeStatus: 'conflicting' }, 'waiting_for_others'],
  ["another's that changes are asked for", { ...lisas, ...reviewed('changes_requested') }, 'waiting_for_others'],

  ["a bot's that fails, in one's own repository", { ...bots, ...inMonas, ci: 'failure' }, 'returned_to_you'],
  ["a listed bot's that fails there", { author: 'acme-updates', ...inMonas, ci: 'failure' }, 'returned_to_you'],
  ["any bot's that fails there", { author: 'pre-commit-ci[bot]', ...inMonas, ci: 'failure' }, 'returned_to_you'],
  [
    "a bot's that conflicts there, which it mends itself",
    { ...bots, ...inMonas, mergeStatus: 'conflicting' },
    'waiting_for_others',
  ],
  ["a bot's that fails in a repository of many", { ...bots, ci: 'failure' }, 'waiting_for_others'],
  ["a bot's that is ready", { ...bots, ...inMonas }, 'ready_to_merge'],

  ["a stranger's in one's own repository, without checks", { ...lisas, ...inMonas, ci: 'none' }, 'needs_your_review'],
  [
    "a stranger's there that rules hold up for a review",
    { ...lisas, ...inMonas, mergeStatus: 'blocked', ...reviewed('review_required') },
    'needs_your_review',
  ],
  ["a stranger's there that is ready", { ...lisas, ...inMonas }, 'ready_to_merge'],
  ["a stranger's there whose checks run", { ...lisas, ...inMonas, ci: 'pending' }, 'waiting_for_others'],
  ["a stranger's there that fails", { ...lisas, ...inMonas, ci: 'failure' }, 'waiting_for_others'],
  ["a stranger's there that conflicts", { ...lisas, ...inMonas, mergeStatus: 'conflicting' }, 'waiting_for_others'],
  [
    "a stranger's there that asks another",
    { ...lisas, ...inMonas, ci: 'none', ...asked('hubot') },
    'waiting_for_others',
  ],
  [
    "a stranger's there that changes are asked for",
    { ...lisas, ...inMonas, ci: 'none', ...reviewed('changes_requested') },
    'waiting_for_others',
  ],
  [
    "a stranger's there that is approved",
    { ...lisas, ...inMonas, ci: 'none', ...reviewed('approved', 1) },
    'ready_to_merge',
  ],
  ["a stranger's without checks in a repository of many", { ...lisas, ci: 'none' }, 'ready_to_merge'],
  ["one's own without checks in one's own repository", { ...inMonas, ci: 'none' }, 'ready_to_merge'],

  ['what can be merged', {}, 'ready_to_merge'],
  ['what is approved, though more were asked', { ...asked('hubot'), ...reviewed('approved', 1) }, 'ready_to_merge'],
  ['what only optional checks hold up', { mergeStatus: 'unstable' }, 'ready_to_merge'],
  ['what could be merged while optional checks run', { mergeStatus: 'unstable', ci: 'pending' }, 'waiting_for_others'],
  ["one's own whose checks run", { ci: 'pending' }, 'waiting_for_others'],
  [
    "one's own that waits for a review",
    { mergeStatus: 'blocked', ...reviewed('review_required') },
    'waiting_for_others',
  ],
  ["one's own that asks another, though it could be merged", asked('hubot'), 'waiting_for_others'],
  ['what rules hold up for another reason', { mergeStatus: 'blocked' }, 'waiting_for_others'],
  ['what the forge knows nothing of', { mergeStatus: 'unknown' }, 'waiting_for_others'],
])('says whose turn it is: %s', (_what, change, section) => {
  expect(sectionOf(change)).toBe(section);
});

test.each<[string, Partial<PullRequestFacts>, Section]>([
  ['fails', { ci: 'failure' }, 'waiting_for_others'],
  ['asks somebody', asked(''), 'waiting_for_others'],
  ['is ready', {}, 'ready_to_merge'],
])('takes nobody for a reader who did not say who they are, when it %s', (_what, change, section) => {
  expect(sectionOf({ author: '', repo: '/x', ...change }, '')).toBe(section);
});

test('waits for what a stack stands on', () => {
  const reader = { forge: 'github', username: 'Mona', renovateAuthors: [] } as const;
  const pullRequests = [facts({ number: 1, headBranch: 'a' }), facts({ number: 2, baseBranch: 'a' })];
  const sections = toRows({ pullRequests, issues: [] }, reader).pullRequests.map(({ section }) => section);
  expect(sections).toEqual(['ready_to_merge', 'waiting_for_others']);
});
