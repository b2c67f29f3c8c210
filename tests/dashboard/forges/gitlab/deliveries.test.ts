import { verifyGitlabDelivery } from '../../../../src/dashboard/forges/gitlab/verify-delivery.js';
import { gitlabDelivery } from '../../../forges/gitlab.js';

const payload = { object_kind: 'merge_request', project: { path_with_namespace: 'acme/web/shop' } };

test('says which project a delivery is about', () => {
  expect(verifyGitlabDelivery(gitlabDelivery('secret', payload), 'secret')).toEqual({ fullName: 'acme/web/shop' });
});

test.each([
  ['a system hook', {}],
  ['a project that is null', { project: null }],
])('takes a delivery that names no project: %s', (_reason, body) => {
  expect(verifyGitlabDelivery(gitlabDelivery('secret', body), 'secret')).toEqual({});
});

test.each([
  ['another secret', { 'x-gitlab-token': 'other' }],
  ['a part of the secret', { 'x-gitlab-token': 'secre' }],
  ['no secret', {}],
])('refuses a delivery with %s', (_reason, headers) => {
  const { body } = gitlabDelivery('secret', payload);
  expect(verifyGitlabDelivery({ headers, body }, 'secret')).toBeUndefined();
});
