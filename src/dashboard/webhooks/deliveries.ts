import { AppError } from '../../core/errors.js';
import { limitConcurrency } from '../../core/concurrency.js';
import type { ServerKey } from '../../storage/server-key.js';
import type { ForgeName } from '../forges/forge.js';
import type { WebhookDelivery } from './verify-delivery.js';
import { createDeliveredChanges } from './delivered-changes.js';
import type { DeliveredChangesOptions } from './delivered-changes.js';
import { createBodyReader } from './body-reader.js';
import { findWebhookOwner } from './webhook-owner.js';
import { createSeenDeliveries } from './seen-deliveries.js';
import { findHeader, WEBHOOK_SENDERS } from './verify-delivery.js';

/** Limits the database connections that deliveries use, so that bursts don't make other queries time out. */
const MAX_QUERIES = 4;

export interface IncomingDelivery {
  readonly forge: ForgeName;
  /** The token in the path. */
  readonly token: string;
  readonly headers: WebhookDelivery['headers'];
  /** Reads the body. */
  readonly read: () => Promise<Buffer>;
}

export interface Deliveries {
  /**
   * Accepts a delivery. Its changes are read afterwards in the background, once for several deliveries.
   *
   * @throws AppError `not_found` for an unknown token, before the body is read; `unauthenticated` if the body isn't
   * signed with the webhook's secret.
   */
  receive(delivery: IncomingDelivery): Promise<void>;
  /** Runs pending reads at once, for at most five seconds. No delivery may be passed in after this call. */
  close(): Promise<void>;
}

export interface DeliveriesOptions extends Omit<DeliveredChangesOptions, 'now'> {
  readonly key: ServerKey;
  readonly now?: (() => number) | undefined;
}

export function createDeliveries({ key, now = Date.now, ...options }: DeliveriesOptions): Deliveries {
  const { database } = options;
  const readInTurn = createBodyReader();
  const query = limitConcurrency(MAX_QUERIES);
  const seen = createSeenDeliveries(database, now);
  const changes = createDeliveredChanges({ ...options, now });
  return {
    async receive({ forge, token, headers, read }) {
      const receiver = await query(() => findWebhookOwner(database, key, { token, at: now() }));
      if (receiver === undefined) throw new AppError('not_found', 'Unknown webhook.');
      const { personId, secret } = receiver;
      const { verify, idHeaders, eventHeaders, idleEvents } = WEBHOOK_SENDERS[forge];
      const event = verify({ headers, body: await readInTurn(personId, read) }, secret);
      if (event === undefined)
        throw new AppError('unauthenticated', "The delivery isn't signed with the webhook's secret.");
      if (idleEvents.includes(findHeader(headers, eventHeaders) ?? '')) return;
      const id = findHeader(headers, idHeaders);
      const isNew = id === undefined || (await query(() => seen.claim([personId, forge, id])));
      if (isNew) changes.schedule(personId, forge, event);
    },
    close: () => changes.close(),
  };
}
