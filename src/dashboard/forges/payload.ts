import type { DeliveredEvent } from './forge.js';

/** What the payload of a verified delivery is about; GitHub and Forgejo say it alike. What can't be parsed names nothing. */
export function readDeliveredEvent(body: Buffer): DeliveredEvent {
  try {
    // Looked at member by member, so that a payload of any shape is taken.
    const payload = JSON.parse(body.toString()) as { repository?: { full_name?: unknown } | null } | null;
    const fullName = payload?.repository?.full_name;
    return typeof fullName === 'string' ? { fullName } : {};
  } catch {
    return {};
  }
}
