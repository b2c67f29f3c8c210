import { verifyForgejoDelivery } from '../../../../src/dashboard/forges/forgejo/verify-delivery.js';
import { forgejoDelivery } from '../../../forges/forgejo.js';

const payload = { action: 'opened', repository: { full_name: 'acme/shop' } };

test.each(['forgejo', 'gitea'] as const)(
  'verifyForgejoDelivery: returns the repository of a delivery of %s',
  (server) => {
    expect(verifyForgejoDelivery(forgejoDelivery('secret', payload, { server }), 'secret')).toEqual({
      fullName: 'acme/shop',
    });
  },
);

test('verifyForgejoDelivery: returns the repository of an Actions run', () => {
  const run = { action: 'success', run: { id: 7, repository: { full_name: 'acme/shop' } }, prior_status: 'running' };
  expect(verifyForgejoDelivery(forgejoDelivery('secret', run), 'secret')).toEqual({ fullName: 'acme/shop' });
});

test.each([
  ['a wrong secret', forgejoDelivery('other', payload).headers],
  ['no signature', {}],
  ['an empty signature', { 'x-forgejo-signature': '' }],
])('verifyForgejoDelivery: rejects a delivery with %s', (_reason, headers) => {
  const { body } = forgejoDelivery('secret', payload);
  expect(verifyForgejoDelivery({ headers, body }, 'secret')).toBeUndefined();
});
