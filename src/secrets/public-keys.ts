import { createHash } from 'node:crypto';
import { bech32 } from '@scure/base';
import { AppError } from '@trellis/core/errors';

/** The bytes of a key by the prefix of its text: the kinds that the command line, the pages and the library encrypt to. */
const KEY_BYTES: ReadonlyMap<string, number> = new Map([
  ['age', 32],
  // ML-KEM-768 with X25519, resistant to quantum computers: 1,959 characters.
  ['age1pq', 1216],
  // Keys of hardware tokens: P-256, and ML-KEM-768 with P-256.
  ['age1tag', 33],
  ['age1tagpq', 1249],
]);

/**
 * Returns the public key of a consumer or of the owner after checking its kind, checksum and length.
 *
 * @throws AppError `invalid_input` for a key that no client can encrypt to. The message never quotes the text, which may
 * be an identity.
 */
export function parsePublicKey(text: string): string {
  const problem = findProblem(text);
  if (problem === undefined) return text;
  throw new AppError('invalid_input', `Expected public_key to be an age public key (age1…); ${problem}.`, {
    field: 'public_key',
  });
}

function findProblem(text: string): string | undefined {
  if (/^age-(?:secret-key|plugin)-/i.test(text)) return 'received an identity, which must stay secret';
  if (text.startsWith('ssh-')) return 'received an SSH key, which clients of this service cannot encrypt to';
  if (!/^age1[0-9a-z+._-]+$/.test(text)) return 'received something else';
  // The data of bech32 has no "1", so the last one ends the prefix.
  const prefix = text.slice(0, text.lastIndexOf('1'));
  const length = KEY_BYTES.get(prefix);
  if (length === undefined) return 'received a key of an age plugin, which clients of this service cannot encrypt to';
  return decodeLength(text) === length ? undefined : 'received a damaged one: its checksum or length is wrong';
}

/** Returns the number of encoded bytes; `undefined` for a wrong checksum. */
function decodeLength(text: string): number | undefined {
  try {
    const { words } = bech32.decode(text as `${string}1${string}`, false);
    return bech32.fromWords(words).length;
  } catch {
    return undefined;
  }
}

/**
 * Returns the fingerprint of a public key: `SHA256:` and the digest of its text in base64 without padding, as the clients
 * print it.
 */
export function toKeyFingerprint(publicKey: string): string {
  return `SHA256:${createHash('sha256').update(publicKey).digest('base64').replace(/=+$/, '')}`;
}
