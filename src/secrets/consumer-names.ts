import { AppError } from '../core/errors.js';

/** In characters; the contract has the same limit. */
const MAX_LENGTH = 128;

/** Visible characters with single spaces between them; neither `.` nor `..`. */
const PART = String.raw`(?!\.{1,2}(?:/|$))[^\s\p{C}/]+(?: [^\s\p{C}/]+)*`;
const NAME = new RegExp(`^${PART}(?:/${PART})*$`, 'u');

/**
 * Validates the name of a consumer. It appears in URL paths, so its parts between slashes are never empty, `.` or `..`.
 * Control and format characters are invalid, and so is white space except for single spaces inside a part. All letters
 * are allowed and compared without normalization: names that only look alike are different names.
 *
 * @throws AppError `invalid_input` for an invalid name.
 */
export function parseConsumerName(text: string, field = 'name'): string {
  if (Array.from(text).length <= MAX_LENGTH && NAME.test(text)) return text;
  const message = `Expected ${field} to be a consumer name: 1 to ${MAX_LENGTH} visible characters, parts separated by "/".`;
  throw new AppError('invalid_input', message, { field });
}

/** Public keys of age, and the SSH public keys that age supports. */
const PUBLIC_KEY = /^(?:age1[0-9a-z+._-]+|ssh-(?:ed25519|rsa) [A-Za-z0-9+/]+={0,2})$/;

/** @throws AppError `invalid_input` for a public key that age can't use. */
export function parsePublicKey(text: string): string {
  if (PUBLIC_KEY.test(text)) return text;
  const message = 'Expected public_key to be an age recipient or an SSH public key without its comment.';
  throw new AppError('invalid_input', message, { field: 'public_key' });
}
