import { createHash, timingSafeEqual } from 'node:crypto';
import type { DeliveredEvent, Delivery } from '../forge.js';
import { readDeliveredEvent } from '../payload.js';

/** GitLab sends the secret itself; it is compared in a time that tells nothing of it. */
export function verifyGitlabDelivery({ headers, body }: Delivery, secret: string): DeliveredEvent | undefined {
  const given = headers['x-gitlab-token'];
  if (typeof given !== 'string' || !timingSafeEqual(digest(given), digest(secret))) return undefined;
  return readDeliveredEvent(body, ({ project }) => project?.path_with_namespace);
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
