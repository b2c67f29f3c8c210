import { ciFromPipeline } from '../../../../src/dashboard/forges/gitlab/ci.js';

test.each([
  ['success', 'success'],
  ['SUCCESS', 'success'],
  ['failed', 'failure'],
  ['canceled', 'failure'],
  ['canceling', 'pending'],
  ['created', 'pending'],
  ['waiting_for_resource', 'pending'],
  ['waiting_for_callback', 'pending'],
  ['preparing', 'pending'],
  ['pending', 'pending'],
  ['running', 'pending'],
  ['manual', 'pending'],
  ['scheduled', 'pending'],
  ['skipped', 'none'],
  ['odd', undefined],
  [null, 'none'],
  [undefined, 'none'],
])('ciFromPipeline: converts %p to %s', (status, ci) => {
  expect(ciFromPipeline(status)).toBe(ci);
});
