import { open } from '../../../sealing/open.js';
import { replaceSecret } from '../../../sealing/put-secret.js';
import { requireAnswer } from '../answers.js';
import { secrets } from './client.js';
import type { Identity } from './identity/wrapping.js';
import { createKeyCheck } from './known-keys.js';
import { placeOf } from './objects.js';
import type { ObjectMetadata } from './objects.js';

/** Fetches a value and opens it here. @throws SealingError `no_match` for one that is sealed to others. */
export async function openValue(object: ObjectMetadata, { secret }: Identity): Promise<Uint8Array<ArrayBuffer>> {
  const answer = await secrets.GET('/objects/{slug}', { params: placeOf(object), parseAs: 'arrayBuffer' });
  return open(requireAnswer<unknown>(answer) as ArrayBuffer, secret);
}

/**
 * Seals the value that an object has to the keys that its consumers have now,
 * and to the owner, who opens it for that.
 *
 * @throws SealingError `no_match` for one that the identity doesn't open, `no_key` for a consumer without a key;
 * ApiError `precondition_failed` when somebody else has replaced it since the object was read.
 */
export async function resealValue(object: ObjectMetadata, identity: Identity): Promise<void> {
  const value = await openValue(object, identity);
  const { slug, id, etag } = object;
  await replaceSecret(secrets, { slug, id, etag, value, keepReadableCopy: true, checkKeys: createKeyCheck(object) });
}

/** `undefined` for bytes that are no text that could be shown. */
export function toText(value: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value);
    // eslint-disable-next-line no-control-regex -- what a terminal or a page can't show is no text
    return /[\0-\u0008\u000e-\u001f]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
