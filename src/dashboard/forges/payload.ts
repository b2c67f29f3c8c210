import type { DeliveredEvent } from './forge.js';

/** Looked at member by member, so that a payload of any shape is taken. */
export interface Payload {
  readonly repository?: { readonly full_name?: unknown } | null;
  /** Forgejo tells of the repository of a run in the run. */
  readonly run?: { readonly repository?: { readonly full_name?: unknown } | null } | null;
  readonly project?: { readonly path_with_namespace?: unknown } | null;
}

/** What the payload of a verified delivery is about. What can't be parsed names nothing. */
export function readDeliveredEvent(body: Buffer, nameOf: (payload: Payload) => unknown): DeliveredEvent {
  try {
    const payload = JSON.parse(body.toString()) as Payload | null;
    const fullName = payload === null ? undefined : nameOf(payload);
    return typeof fullName === 'string' ? { fullName } : {};
  } catch {
    return {};
  }
}
