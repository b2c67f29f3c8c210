import { requireOffered } from '../../../src/dashboard/actions/offered.js';
import type { ActionName, ForgeName, PullRequestFacts } from '../../../src/dashboard/forges/facts.js';
import { toRows } from '../../../src/dashboard/forges/rules/to-rows.js';
import { facts } from '../forges/facts.js';

/** Returns the row of a pull request, next to one that it can be stacked on. */
function rowOf(change: Partial<PullRequestFacts>, forge: ForgeName = 'github') {
  const pullRequests = [facts(change), facts({ number: 1, headBranch: 'parent' })];
  const reader = { forge, username: '', renovateAuthors: [] };
  return toRows({ pullRequests, issues: [] }, reader).pullRequests[0]!;
}

test.each<[string, ActionName, Partial<PullRequestFacts>]>([
  ['already_up_to_date', 'merge', { empty: true }],
  ['stacked', 'merge', { baseBranch: 'parent' }],
  ['conflict', 'merge', { mergeStatus: 'conflicting' }],
  ['not_mergeable', 'merge', { draft: true }],
  ['checks_pending', 'merge', { ci: 'pending' }],
  ['behind', 'merge', { mergeStatus: 'blocked', behind: true }],
  ['checks_failing', 'merge', { mergeStatus: 'blocked', ci: 'failure' }],
  ['blocked_by_protection', 'merge', { mergeStatus: 'blocked' }],
  ['not_mergeable', 'merge', { mergeStatus: 'unknown' }],
  ['conflict', 'update_branch', { behind: true, mergeStatus: 'conflicting' }],
  ['already_up_to_date', 'update_branch', {}],
  ['already_up_to_date', 'update_branch', { behind: true, empty: true }],
  ['unknown', 'update_branch', { behind: true, author: 'renovate[bot]' }],
  ['auto_merge_not_allowed', 'auto_merge', { ci: 'pending', autoMergeAllowed: false }],
  ['already_up_to_date', 'auto_merge', { empty: true }],
  ['conflict', 'auto_merge', { mergeStatus: 'conflicting' }],
  ['stacked', 'auto_merge', { baseBranch: 'parent' }],
  ['ready_to_merge', 'auto_merge', {}],
  ['unknown', 'cancel_auto_merge', {}],
  ['checks_pending', 'rerun_checks', { ci: 'pending' }],
  ['unknown', 'rerun_checks', {}],
  ['unknown', 'dependabot_rebase', {}],
  ['unknown', 'dependabot_recreate', {}],
  ['unknown', 'renovate_rebase', {}],
])('assertActionAllowed: throws %s for %s', (code, action, change) => {
  const { message, ...refused } = catchError(() => requireOffered(rowOf(change), action));
  expect(refused).toMatchObject({ code: 'conflict', action: { code } });
  expect(message).toMatch(/^[A-Z].+\.$/);
});

test('assertActionAllowed: rejects auto-merge by Trellis for drafts', () => {
  const refused = catchError(() => requireOffered(rowOf({ draft: true, ci: 'pending' }, 'forgejo'), 'auto_merge'));
  expect(refused).toMatchObject({ action: { code: 'not_mergeable' } });
});

test('assertActionAllowed: accepts allowed actions', () => {
  expect(() => {
    requireOffered(rowOf({}), 'merge');
    requireOffered(rowOf({ draft: true }), 'close');
    requireOffered(rowOf({ ci: 'failure' }), 'rerun_checks');
  }).not.toThrow();
});

function catchError(run: () => void): Error {
  try {
    run();
  } catch (error) {
    return error as Error;
  }
  throw new Error('No error was thrown.');
}
