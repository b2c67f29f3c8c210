import { open } from '../../../sealing/seal.js';
import { replaceSecret } from '../../../sealing/put-secret.js';
import { requireData } from '../api-errors.js';
import { secretsClient } from './client.js';
import type { Identity } from './identity/wrapping.js';
import { createBrowserKeyCheck } from './known-keys.js';
import { locateSecret } from './secrets.js';
import type { ObjectMetadata } from './secrets.js';

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

/** Decodes UTF-8; returns `undefined` for invalid UTF-8 and for text with control characters. */
export function decodeText(value: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value);
    // eslint-disable-next-line no-control-regex -- control characters are the sign of binary data
    return /[\0-\u0008\u000e-\u001f]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
