import { createHash, timingSafeEqual } from 'node:crypto';
import type { DeliveredEvent, Delivery } from '../forge.js';

/** GitLab sends the secret itself; it is compared in a time that tells nothing of it. */
export function verifyGitlabDelivery({ headers, body }: Delivery, secret: string): DeliveredEvent | undefined {
  const given = headers['x-gitlab-token'];
  if (typeof given !== 'string' || !timingSafeEqual(digest(given), digest(secret))) return undefined;
  return readProjectOf(body);
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

function readProjectOf(body: Buffer): DeliveredEvent {
  try {
    // Looked at member by member, so that a payload of any shape is taken.
    const payload = JSON.parse(body.toString()) as { project?: { path_with_namespace?: unknown } | null } | null;
    const fullName = payload?.project?.path_with_namespace;
    return typeof fullName === 'string' ? { fullName } : {};
  } catch {
    return {};
  }
}
