import { open } from '../../../sealing/seal.js';
import type { Identity } from './identity/wrapping.js';
import type { ObjectMetadata } from './names.js';
import { readCheckedValue } from './signatures/check-value.js';
import { storeReplacement } from './signatures/store-value.js';

/**
 * Fetches a sealed value, checks its signature, and opens it in this browser.
 *
 * @throws SealingError `no_match` when the value is not sealed to the identity; as `checkValue`.
 */
export async function openValue(object: ObjectMetadata, { secret }: Identity): Promise<Uint8Array<ArrayBuffer>> {
  const { sealed } = await readCheckedValue(object);
  return open(sealed, secret);
}

/**
 * Opens the value of a secret, and reseals it to the current keys of its consumers and of the owner.
 *
 * @throws SealingError `no_match` when the value is not sealed to the identity, `no_key` for a consumer without a key;
 * ApiError `precondition_failed` when the value was replaced after `object` was read.
 */
export async function resealValue(object: ObjectMetadata, identity: Identity): Promise<void> {
  const value = await openValue(object, identity);
  await storeReplacement(object, { value, keepReadableCopy: true });
}
