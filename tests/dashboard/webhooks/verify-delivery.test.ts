import { WEBHOOK_SENDERS } from '../../../src/dashboard/webhooks/verify-delivery.js';
import { forgejoDelivery } from '../../forges/forgejo.js';
import { githubDelivery } from '../../forges/github.js';
import { gitlabDelivery } from '../../forges/gitlab.js';
import { readExamples } from './examples.js';

const githubPayload = { action: 'opened', repository: { full_name: 'acme/shop' } };
const signed = githubDelivery('secret', githubPayload);
const signature = signed.headers['x-hub-signature-256'];

test('WEBHOOK_SENDERS.github.verify: returns the repository of a delivery', () => {
  expect(WEBHOOK_SENDERS.github.verify(signed, 'secret')).toEqual({ fullName: 'acme/shop' });
});

test.each([
  ['a ping', { zen: 'Design for failure.', hook_id: 1 }],
  ['a repository without a name', { repository: {} }],
  ['a repository that is null', { repository: null }],
  ['null', null],
  ['a list', []],
])('WEBHOOK_SENDERS.github.verify: accepts a signed delivery without a repository: %s', (_reason, body) => {
  expect(WEBHOOK_SENDERS.github.verify(githubDelivery('secret', body as object), 'secret')).toEqual({});
});

test.each<[string, Record<string, string>, Buffer]>([
  ['a wrong secret', githubDelivery('other', githubPayload).headers, signed.body],
  ['a changed body', signed.headers, Buffer.from('{}')],
  ['no signature', {}, signed.body],
  ['an empty signature', { 'x-hub-signature-256': 'sha256=' }, signed.body],
  ['a different algorithm', { 'x-hub-signature-256': signature.replace('sha256', 'sha1') }, signed.body],
  ['a truncated signature', { 'x-hub-signature-256': signature.slice(0, -2) }, signed.body],
  ['a signature that is too long', { 'x-hub-signature-256': `${signature}00` }, signed.body],
  ['a signature that is not hexadecimal', { 'x-hub-signature-256': `sha256=${'z'.repeat(64)}` }, signed.body],
])('WEBHOOK_SENDERS.github.verify: rejects a delivery with %s', (_reason, headers, body) => {
  expect(WEBHOOK_SENDERS.github.verify({ headers, body }, 'secret')).toBeUndefined();
});

test('WEBHOOK_SENDERS.github.verify: accepts every published payload with its signature, and rejects it without', () => {
  const kinds = readExamples();
  const payloads = kinds.flatMap(({ name, examples }) => examples.map((payload) => ({ name, payload })));
  const failed = payloads.filter(({ name, payload }) => {
    const delivery = githubDelivery('secret', payload, { event: name });
    const fullName = payload.repository?.full_name;
    const found = WEBHOOK_SENDERS.github.verify(delivery, 'secret');
    return found?.fullName !== fullName || WEBHOOK_SENDERS.github.verify(delivery, 'other') !== undefined;
  });
  expect(failed).toEqual([]);
  expect([kinds.length >= 58, payloads.length >= 300]).toEqual([true, true]);
});

const forgejoPayload = { action: 'opened', repository: { full_name: 'acme/shop' } };

test.each(['forgejo', 'gitea'] as const)(
  'WEBHOOK_SENDERS.forgejo.verify: returns the repository of a delivery of %s',
  (server) => {
    expect(WEBHOOK_SENDERS.forgejo.verify(forgejoDelivery('secret', forgejoPayload, { server }), 'secret')).toEqual({
      fullName: 'acme/shop',
    });
  },
);

test('WEBHOOK_SENDERS.forgejo.verify: returns the repository of an Actions run', () => {
  const run = { action: 'success', run: { id: 7, repository: { full_name: 'acme/shop' } }, prior_status: 'running' };
  expect(WEBHOOK_SENDERS.forgejo.verify(forgejoDelivery('secret', run), 'secret')).toEqual({ fullName: 'acme/shop' });
});

test.each([
  ['a wrong secret', forgejoDelivery('other', forgejoPayload).headers],
  ['no signature', {}],
  ['an empty signature', { 'x-forgejo-signature': '' }],
])('WEBHOOK_SENDERS.forgejo.verify: rejects a delivery with %s', (_reason, headers) => {
  const { body } = forgejoDelivery('secret', forgejoPayload);
  expect(WEBHOOK_SENDERS.forgejo.verify({ headers, body }, 'secret')).toBeUndefined();
});

const gitlabPayload = { object_kind: 'merge_request', project: { path_with_namespace: 'acme/web/shop' } };

test('WEBHOOK_SENDERS.gitlab.verify: returns the project of a delivery', () => {
  expect(WEBHOOK_SENDERS.gitlab.verify(gitlabDelivery('secret', gitlabPayload), 'secret')).toEqual({
    fullName: 'acme/web/shop',
  });
});

test.each([
  ['success', true],
  ['failed', true],
  ['canceled', true],
  ['running', undefined],
  ['pending', undefined],
])('WEBHOOK_SENDERS.gitlab.verify: reports whether a pipeline has ended: %s', (status, isFinal) => {
  const payload = { ...gitlabPayload, object_kind: 'pipeline', object_attributes: { status } };
  const event = { fullName: 'acme/web/shop', ...(isFinal && { isFinal }) };
  expect(WEBHOOK_SENDERS.gitlab.verify(gitlabDelivery('secret', payload), 'secret')).toEqual(event);
});

test('WEBHOOK_SENDERS.gitlab.verify: an issue or a note that has no status does not end a pipeline', () => {
  for (const attributes of [{ state: 'success' }, null]) {
    const payload = { ...gitlabPayload, object_attributes: attributes };
    expect(WEBHOOK_SENDERS.gitlab.verify(gitlabDelivery('secret', payload), 'secret')).not.toHaveProperty('isFinal');
  }
});

test.each([
  ['a system hook', {}],
  ['a project that is null', { project: null }],
])('WEBHOOK_SENDERS.gitlab.verify: accepts a delivery without a project: %s', (_reason, body) => {
  expect(WEBHOOK_SENDERS.gitlab.verify(gitlabDelivery('secret', body), 'secret')).toEqual({});
});

test.each([
  ['a wrong secret', { 'x-gitlab-token': 'other' }],
  ['a part of the secret', { 'x-gitlab-token': 'secre' }],
  ['no secret', {}],
])('WEBHOOK_SENDERS.gitlab.verify: rejects a delivery with %s', (_reason, headers) => {
  const { body } = gitlabDelivery('secret', gitlabPayload);
  expect(WEBHOOK_SENDERS.gitlab.verify({ headers, body }, 'secret')).toBeUndefined();
});
