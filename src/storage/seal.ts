import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const NO_SALT = Buffer.alloc(32);

/** Encrypts a text (AES-256-GCM) so that only who knows the secret can read it: nonce, tag, ciphertext. */
export function seal(text: string, secret: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', deriveKey(secret), nonce);
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/** The inverse of {@link seal}. @throws Error when the secret is another, or a bit changed. */
export function unseal(sealed: Uint8Array, secret: string): string {
  const [nonce, rest] = [sealed.subarray(0, NONCE_BYTES), sealed.subarray(NONCE_BYTES)];
  const decipher = createDecipheriv('aes-256-gcm', deriveKey(secret), nonce);
  decipher.setAuthTag(rest.subarray(0, TAG_BYTES));
  return Buffer.concat([decipher.update(rest.subarray(TAG_BYTES)), decipher.final()]).toString('utf8');
}

/** HKDF (RFC 5869) of one block, whose own function takes twice as long. */
function deriveKey(secret: string): Buffer {
  const key = createHmac('sha256', NO_SALT).update(secret).digest();
  return createHmac('sha256', key).update('trellis seal\x01').digest();
}
