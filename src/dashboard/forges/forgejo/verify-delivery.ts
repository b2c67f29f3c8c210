import type { DeliveredEvent, Delivery } from '../forge.js';
import { readDeliveredEvent } from '../payload.js';
import { isSigned } from '../signature.js';

/** @returns `undefined` when the delivery isn't signed with the secret. Gitea has a header of its own. */
export function verifyForgejoDelivery({ headers, body }: Delivery, secret: string): DeliveredEvent | undefined {
  const signature = headers['x-forgejo-signature'] ?? headers['x-gitea-signature'];
  if (!isSigned(body, secret, String(signature ?? ''))) return undefined;
  return readDeliveredEvent(body, ({ repository, run }) => (repository ?? run?.repository)?.full_name);
}
