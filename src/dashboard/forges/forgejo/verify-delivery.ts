import type { DeliveredEvent, WebhookDelivery } from '../forge.js';
import { readDeliveredEvent } from '../payload.js';
import { verifyHmac } from '../verify-hmac.js';

/**
 * Verifies the HMAC signature of a delivery of Forgejo or Gitea.
 *
 * @returns `undefined` when it isn't signed with the secret.
 */
export function verifyForgejoDelivery({ headers, body }: WebhookDelivery, secret: string): DeliveredEvent | undefined {
  const signature = headers['x-forgejo-signature'] ?? headers['x-gitea-signature'];
  if (!verifyHmac(body, secret, String(signature ?? ''))) return undefined;
  return readDeliveredEvent(body, ({ repository, run }) => (repository ?? run?.repository)?.full_name);
}
