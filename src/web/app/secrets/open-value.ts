import { replaceSecret } from '../../../sealing/put-secret.js';
import { open } from '../../../sealing/seal.js';
import { requireData } from '../api.js';
import type { Identity } from './identity/wrapping.js';
import { createBrowserKeyCheck } from './known-keys.js';
import type { ObjectMetadata } from './names.js';
import { locateSecret, secretsClient } from './secrets.js';

/**
 * Fetches a sealed value and opens it in this browser.
 *
 * @throws SealingError `no_match` when the value is not sealed to the identity.
 */
export async function openValue(object: ObjectMetadata, { secret }: Identity): Promise<Uint8Array<ArrayBuffer>> {
  const result = await secretsClient.GET('/objects/{slug}', { params: locateSecret(object), parseAs: 'arrayBuffer' });
  return open(requireData<unknown>(result) as ArrayBuffer, secret);
}

/**
 * Opens the value of a secret, and reseals it to the current keys of its consumers and of the owner.
 *
 * @throws SealingError `no_match` when the value is not sealed to the identity, `no_key` for a consumer without a key;
 * ApiError `precondition_failed` when the value was replaced after `object` was read.
 */
export async function resealValue(object: ObjectMetadata, identity: Identity): Promise<void> {
  const value = await openValue(object, identity);
  const { slug, id, etag } = object;
  await replaceSecret(secretsClient, {
    slug,
    id,
    etag,
    value,
    keepReadableCopy: true,
    checkKeys: createBrowserKeyCheck(object),
  });
}
