/** How each forge delivers. */
import type { ForgeName } from '../forges/facts.js';
import type { DeliveredEvent, Delivery } from '../forges/forge.js';
import { verifyForgejoDelivery } from '../forges/forgejo/verify-delivery.js';
import { verifyGithubDelivery } from '../forges/github/verify-delivery.js';
import { verifyGitlabDelivery } from '../forges/gitlab/verify-delivery.js';

interface Sender {
  /** @returns `undefined` when the delivery isn't signed with the secret. */
  readonly verify: (delivery: Delivery, secret: string) => DeliveredEvent | undefined;
  /** What names a delivery, the same when it is sent again. */
  readonly idHeaders: readonly string[];
  readonly eventHeaders: readonly string[];
  /** Of these no row of a board ever changes; of others that is not certain. */
  readonly idleEvents: readonly string[];
}

export const SENDERS: Readonly<Record<ForgeName, Sender>> = {
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
    // Not X-Gitlab-Event-UUID, which a delivery shares with those that it brings about.
    idHeaders: ['idempotency-key'],
    eventHeaders: ['x-gitlab-event'],
    idleEvents: ['Feature Flag Hook', 'Release Hook', 'Wiki Page Hook'],
  },
};

/** The first of the headers that came, as text. */
export function findHeader(headers: Delivery['headers'], names: readonly string[]): string | undefined {
  const found = names.map((name) => headers[name]).find((value) => value !== undefined);
  return found === undefined ? undefined : String(found);
}
