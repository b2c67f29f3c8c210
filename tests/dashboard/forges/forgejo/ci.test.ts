import { judgeCombinedStatus } from '../../../../src/dashboard/forges/forgejo/ci.js';

test.each([
  ['success', 'success'],
  ['failure', 'failure'],
  ['error', 'failure'],
  ['pending', 'pending'],
  ['warning', 'pending'],
  ['', 'none'],
  ['odd', undefined],
  [undefined, undefined],
])('judges the combined status %p as %s', (state, ci) => {
  expect(judgeCombinedStatus(state)).toBe(ci);
});
