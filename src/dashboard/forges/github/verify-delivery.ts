import type { DeliveredEvent, WebhookDelivery } from '../forge.js';
import { readDeliveredEvent } from '../payload.js';
import { verifyHmac } from '../verify-hmac.js';

/** Verifies the HMAC signature of a delivery. @returns `undefined` when it isn't signed with the secret. */
export function verifyGithubDelivery({ headers, body }: WebhookDelivery, secret: string): DeliveredEvent | undefined {
  const [, signature] = /^sha256=(.+)$/.exec(String(headers['x-hub-signature-256'] ?? '')) ?? [];
  if (signature === undefined || !verifyHmac(body, secret, signature)) return undefined;
  return readDeliveredEvent(body, ({ repository }) => repository?.full_name);
}
