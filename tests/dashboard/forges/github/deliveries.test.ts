import { verifyGithubDelivery } from '../../../../src/dashboard/forges/github/verify-delivery.js';
import { githubDelivery } from '../../../forges/github.js';

const payload = { action: 'opened', repository: { full_name: 'acme/shop' } };
const signed = githubDelivery('secret', payload);
const signature = signed.headers['x-hub-signature-256'];

test('verifyGithubDelivery: returns the repository of a delivery', () => {
  expect(verifyGithubDelivery(signed, 'secret')).toEqual({ fullName: 'acme/shop' });
});

test.each([
  ['a ping', { zen: 'Design for failure.', hook_id: 1 }],
  ['a repository without a name', { repository: {} }],
  ['a repository that is null', { repository: null }],
  ['null', null],
  ['a list', []],
])('verifyGithubDelivery: accepts a signed delivery without a repository: %s', (_reason, body) => {
  expect(verifyGithubDelivery(githubDelivery('secret', body as object), 'secret')).toEqual({});
});

test.each<[string, Record<string, string>, Buffer]>([
  ['a wrong secret', githubDelivery('other', payload).headers, signed.body],
  ['a changed body', signed.headers, Buffer.from('{}')],
  ['no signature', {}, signed.body],
  ['an empty signature', { 'x-hub-signature-256': 'sha256=' }, signed.body],
  ['a different algorithm', { 'x-hub-signature-256': signature.replace('sha256', 'sha1') }, signed.body],
  ['a truncated signature', { 'x-hub-signature-256': signature.slice(0, -2) }, signed.body],
  ['a signature that is too long', { 'x-hub-signature-256': `${signature}00` }, signed.body],
  ['a signature that is not hexadecimal', { 'x-hub-signature-256': `sha256=${'z'.repeat(64)}` }, signed.body],
])('verifyGithubDelivery: rejects a delivery with %s', (_reason, headers, body) => {
  expect(verifyGithubDelivery({ headers, body }, 'secret')).toBeUndefined();
});
