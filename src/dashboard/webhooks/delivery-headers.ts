/** The delivery format of each forge. */
import type { ForgeName } from '../forges/model.js';
import type { DeliveredEvent, WebhookDelivery } from '../forges/forge.js';
import { verifyForgejoDelivery } from '../forges/forgejo/verify-delivery.js';
import { verifyGithubDelivery } from '../forges/github/verify-delivery.js';
import { verifyGitlabDelivery } from '../forges/gitlab/verify-delivery.js';

interface Sender {
  /** Returns `undefined` if the delivery isn't signed with the secret. */
  readonly verify: (delivery: WebhookDelivery, secret: string) => DeliveredEvent | undefined;
  /** The headers with the id of a delivery, which stays the same when it is sent again. */
  readonly idHeaders: readonly string[];
  readonly eventHeaders: readonly string[];
  /** Events that never change a row of a board. */
  readonly idleEvents: readonly string[];
}

export const DELIVERY_HEADERS: Readonly<Record<ForgeName, Sender>> = {
  github: {
    verify: verifyGithubDelivery,
    idHeaders: ['x-github-delivery'],
    eventHeaders: ['x-github-event'],
    idleEvents: ['discussion', 'discussion_comment', 'fork', 'gollum', 'star', 'watch'],
  },
  forgejo: {
    verify: verifyForgejoDelivery,
    idHeaders: ['x-forgejo-delivery', 'x-gitea-delivery'],
    eventHeaders: ['x-forgejo-event', 'x-gitea-event'],
    idleEvents: ['fork', 'package', 'release', 'wiki'],
  },
  gitlab: {
    verify: verifyGitlabDelivery,
    // X-Gitlab-Event-UUID is not unique: a delivery shares it with the deliveries that it triggers.
    idHeaders: ['idempotency-key'],
    eventHeaders: ['x-gitlab-event'],
    idleEvents: ['Feature Flag Hook', 'Release Hook', 'Wiki Page Hook'],
  },
};

/** Returns the value of the first of the headers that is present. */
export function findHeader(headers: WebhookDelivery['headers'], names: readonly string[]): string | undefined {
  const found = names.map((name) => headers[name]).find((value) => value !== undefined);
  return found === undefined ? undefined : String(found);
}
