import type { DeliveredEvent } from './forge.js';

/** A webhook payload. Its members are `unknown`, as a payload may have any shape. */
export interface WebhookPayload {
  readonly repository?: { readonly full_name?: unknown } | null;
  /** Forgejo nests the repository of a workflow run in the run. */
  readonly run?: { readonly repository?: { readonly full_name?: unknown } | null } | null;
  readonly project?: { readonly path_with_namespace?: unknown } | null;
}

/** Reads the repository name from the payload of a verified delivery. Returns an empty event for an invalid payload. */
export function readDeliveredEvent(body: Buffer, nameOf: (payload: WebhookPayload) => unknown): DeliveredEvent {
  try {
    const payload = JSON.parse(body.toString()) as WebhookPayload | null;
    const fullName = payload === null ? undefined : nameOf(payload);
    return typeof fullName === 'string' ? { fullName } : {};
  } catch {
    return {};
  }
}
