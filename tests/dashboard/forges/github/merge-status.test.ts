import { toMergeStatus } from '../../../../src/dashboard/forges/github/merge-status.js';

test.each([
  ['MERGEABLE', 'CLEAN', 'mergeable'],
  ['MERGEABLE', 'HAS_HOOKS', 'mergeable'],
  ['MERGEABLE', 'UNSTABLE', 'unstable'],
  ['MERGEABLE', 'BLOCKED', 'blocked'],
  ['MERGEABLE', 'BEHIND', 'blocked'],
  ['MERGEABLE', 'DRAFT', 'blocked'],
  ['CONFLICTING', 'DIRTY', 'conflicting'],
  ['CONFLICTING', 'UNKNOWN', 'conflicting'],
  ['UNKNOWN', 'DIRTY', 'conflicting'],
  ['UNKNOWN', 'UNKNOWN', 'unknown'],
  ['MERGEABLE', 'ODD', 'unknown'],
])('toMergeStatus: combines %s and %s to %s', (mergeable, state, status) => {
  expect(toMergeStatus(mergeable, state)).toBe(status);
});
