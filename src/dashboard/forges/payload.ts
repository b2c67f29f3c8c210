import type { DeliveredEvent } from './forge.js';

interface Payload {
  readonly repository?: { readonly full_name?: unknown } | null;
  /** Of Forgejo's Actions, whose deliveries have no repository beside it. */
  readonly run?: Payload | null;
}

/** What the payload of a verified delivery is about; GitHub and Forgejo say it alike. What can't be parsed names nothing. */
export function readDeliveredEvent(body: Buffer): DeliveredEvent {
  try {
    // Looked at member by member, so that a payload of any shape is taken.
    const payload = JSON.parse(body.toString()) as Payload | null;
    const { full_name: fullName } = payload?.repository ?? payload?.run?.repository ?? {};
    return typeof fullName === 'string' ? { fullName } : {};
  } catch {
    return {};
  }
}
