import { createHmac, timingSafeEqual } from 'node:crypto';

/** Verifies a hexadecimal HMAC-SHA256 signature in constant time. */
export function verifyHmac(body: Buffer, secret: string, signature: string): boolean {
  if (!/^[0-9a-f]{64}$/i.test(signature)) return false;
  return timingSafeEqual(createHmac('sha256', secret).update(body).digest(), Buffer.from(signature, 'hex'));
}
