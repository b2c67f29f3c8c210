import { ciFromCombinedStatus } from '../../../../src/dashboard/forges/forgejo/ci.js';

test.each([
  ['success', 'success'],
  ['failure', 'failure'],
  ['error', 'failure'],
  ['pending', 'pending'],
  ['warning', 'pending'],
  ['', 'none'],
  ['odd', undefined],
  [undefined, undefined],
])('ciFromCombinedStatus: converts %p to %s', (state, ci) => {
  expect(ciFromCombinedStatus(state)).toBe(ci);
});
