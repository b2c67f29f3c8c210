import { verifyGitlabDelivery } from '../../../../src/dashboard/forges/gitlab/verify-delivery.js';
import { gitlabDelivery } from '../../../forges/gitlab.js';

const payload = { object_kind: 'merge_request', project: { path_with_namespace: 'acme/web/shop' } };

test('verifyGitlabDelivery: returns the project of a delivery', () => {
  expect(verifyGitlabDelivery(gitlabDelivery('secret', payload), 'secret')).toEqual({ fullName: 'acme/web/shop' });
});

test.each([
  ['a system hook', {}],
  ['a project that is null', { project: null }],
])('verifyGitlabDelivery: accepts a delivery without a project: %s', (_reason, body) => {
  expect(verifyGitlabDelivery(gitlabDelivery('secret', body), 'secret')).toEqual({});
});

test.each([
  ['a wrong secret', { 'x-gitlab-token': 'other' }],
  ['a part of the secret', { 'x-gitlab-token': 'secre' }],
  ['no secret', {}],
])('verifyGitlabDelivery: rejects a delivery with %s', (_reason, headers) => {
  const { body } = gitlabDelivery('secret', payload);
  expect(verifyGitlabDelivery({ headers, body }, 'secret')).toBeUndefined();
});
