import { createHash, timingSafeEqual } from 'node:crypto';
import type { DeliveredEvent, WebhookDelivery } from '../forge.js';
import { readDeliveredEvent } from '../payload.js';

/**
 * Verifies a delivery by its secret, which GitLab sends as is, in constant time.
 *
 * @returns `undefined` if it differs.
 */
export function verifyGitlabDelivery({ headers, body }: WebhookDelivery, secret: string): DeliveredEvent | undefined {
  const given = headers['x-gitlab-token'];
  if (typeof given !== 'string' || !timingSafeEqual(digest(given), digest(secret))) return undefined;
  return readDeliveredEvent(body, ({ project }) => project?.path_with_namespace);
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
