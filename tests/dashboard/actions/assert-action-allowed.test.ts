import { assertActionAllowed } from '../../../src/dashboard/actions/assert-action-allowed.js';
import type { ActionName, ForgeName, ForgePullRequest } from '../../../src/dashboard/forges/forge.js';
import { toBoardRows } from '../../../src/dashboard/forges/rules/board-rows.js';
import { forgePullRequest } from '../forges/model-fixtures.js';

/** Returns the row of a pull request, next to one that it can be stacked on. */
function rowOf(change: Partial<ForgePullRequest>, forge: ForgeName = 'github') {
  const pullRequests = [forgePullRequest(change), forgePullRequest({ number: 1, headBranch: 'parent' })];
  const reader = { forge, username: '', renovateAuthors: [] };
  return toBoardRows({ pullRequests, issues: [] }, reader).pullRequests[0]!;
}

test.each<[string, ActionName, Partial<ForgePullRequest>]>([
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
  const { message, ...refused } = catchError(() => assertActionAllowed(rowOf(change), action));
  expect(refused).toMatchObject({ code: 'conflict', action: { code } });
  expect(message).toMatch(/^[A-Z].+\.$/);
});

test('assertActionAllowed: rejects auto-merge by Trellis for drafts', () => {
  const refused = catchError(() => assertActionAllowed(rowOf({ draft: true, ci: 'pending' }, 'forgejo'), 'auto_merge'));
  expect(refused).toMatchObject({ action: { code: 'not_mergeable' } });
});

test('assertActionAllowed: accepts allowed actions', () => {
  expect(() => {
    assertActionAllowed(rowOf({}), 'merge');
    assertActionAllowed(rowOf({ draft: true }), 'close');
    assertActionAllowed(rowOf({ ci: 'failure' }), 'rerun_checks');
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
