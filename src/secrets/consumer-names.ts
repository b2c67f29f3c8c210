import { AppError } from '../errors.js';

/** In characters; the contract says so too. */
const MAX_LENGTH = 128;

/** Visible text with single spaces inside, which is neither `.` nor `..`. */
const PART = String.raw`(?!\.{1,2}(?:/|$))[^\s\p{C}/]+(?: [^\s\p{C}/]+)*`;
const NAME = new RegExp(`^${PART}(?:/${PART})*$`, 'u');

/**
 * Reads the name of a consumer: parts between slashes, none of them empty, `.`
 * or `..`, as it is part of a path; without control and format characters, and
 * without white space but single spaces inside. Any letters will do, and count
 * as they are: names that only look alike are two names.
 *
 * @throws AppError `invalid_input` for anything else.
 */
export function parseConsumerName(text: string, field = 'name'): string {
  if (Array.from(text).length <= MAX_LENGTH && NAME.test(text)) return text;
  const message = `Expected ${field} to be the name of a consumer: visible parts between slashes, ${MAX_LENGTH} characters at most.`;
  throw new AppError('invalid_input', message, { field });
}

/** As age writes public keys, and those of SSH that it takes. */
const PUBLIC_KEY = /^(?:age1[0-9a-z+._-]+|ssh-(?:ed25519|rsa) [A-Za-z0-9+/]+={0,2})$/;

/** @throws AppError `invalid_input` for what no value can be sealed to. */
export function parsePublicKey(text: string): string {
  if (PUBLIC_KEY.test(text)) return text;
  const message = 'Expected public_key to be an age recipient, or a public key of SSH without its comment.';
  throw new AppError('invalid_input', message, { field: 'public_key' });
}
