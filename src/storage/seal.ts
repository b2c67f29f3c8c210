import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

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

function deriveKey(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'trellis seal', 32));
}
