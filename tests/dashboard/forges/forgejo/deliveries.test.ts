import { verifyForgejoDelivery } from '../../../../src/dashboard/forges/forgejo/verify-delivery.js';
import { forgejoDelivery } from '../../../forges/forgejo.js';

const payload = { action: 'opened', repository: { full_name: 'acme/shop' } };

test.each(['forgejo', 'gitea'] as const)('says which repository a delivery of %s is about', (server) => {
  expect(verifyForgejoDelivery(forgejoDelivery('secret', payload, { server }), 'secret')).toEqual({
    fullName: 'acme/shop',
  });
});

test('says which repository a run of Actions belongs to', () => {
  const run = { action: 'success', run: { id: 7, repository: { full_name: 'acme/shop' } }, prior_status: 'running' };
  expect(verifyForgejoDelivery(forgejoDelivery('secret', run), 'secret')).toEqual({ fullName: 'acme/shop' });
});

test.each([
  ['another secret', forgejoDelivery('other', payload).headers],
  ['no signature', {}],
  ['an empty signature', { 'x-forgejo-signature': '' }],
])('refuses a delivery with %s', (_reason, headers) => {
  const { body } = forgejoDelivery('secret', payload);
  expect(verifyForgejoDelivery({ headers, body }, 'secret')).toBeUndefined();
});
