import { createHmac, timingSafeEqual } from 'node:crypto';

/** Tells whether a signature, in hexadecimal digits, is the HMAC-SHA256 of these bytes, in a time that tells no more. */
export function isSigned(body: Buffer, secret: string, signature: string): boolean {
  if (!/^[0-9a-f]{64}$/i.test(signature)) return false;
  return timingSafeEqual(createHmac('sha256', secret).update(body).digest(), Buffer.from(signature, 'hex'));
}
