import { AppError } from '../../errors.js';
import { inTurn } from '../../in-turn.js';
import type { ServerKey } from '../../storage/server-key.js';
import type { ForgeName } from '../forges/facts.js';
import type { Delivery } from '../forges/forge.js';
import { createDeliveredChanges } from './delivered-changes.js';
import type { DeliveredChangesOptions } from './delivered-changes.js';
import { createReading } from './reading.js';
import { findReceiver } from './receiver.js';
import { createSeenDeliveries } from './seen-deliveries.js';
import { findHeader, SENDERS } from './senders.js';

/** Limits the database connections that deliveries use, so that bursts don't make other queries time out. */
const MAX_QUERIES = 4;

export interface IncomingDelivery {
  readonly forge: ForgeName;
  /** The token in the path. */
  readonly token: string;
  readonly headers: Delivery['headers'];
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
  take(delivery: IncomingDelivery): Promise<void>;
  /** Runs pending reads at once, for at most five seconds. No delivery may be passed in after this call. */
  close(): Promise<void>;
}

export interface DeliveriesOptions extends Omit<DeliveredChangesOptions, 'now'> {
  readonly key: ServerKey;
  readonly now?: (() => number) | undefined;
}

export function createDeliveries({ key, now = Date.now, ...options }: DeliveriesOptions): Deliveries {
  const { database } = options;
  const readInTurn = createReading();
  const query = inTurn(MAX_QUERIES);
  const seen = createSeenDeliveries(database, now);
  const changes = createDeliveredChanges({ ...options, now });
  return {
    async take({ forge, token, headers, read }) {
      const receiver = await query(() => findReceiver(database, key, { token, at: now() }));
      if (receiver === undefined) throw new AppError('not_found', 'Unknown webhook.');
      const { personId, secret } = receiver;
      const { verify, idHeaders, eventHeaders, idleEvents } = SENDERS[forge];
      const event = verify({ headers, body: await readInTurn(personId, read) }, secret);
      if (event === undefined)
        throw new AppError('unauthenticated', "The delivery isn't signed with the webhook's secret.");
      if (idleEvents.includes(findHeader(headers, eventHeaders) ?? '')) return;
      const id = findHeader(headers, idHeaders);
      const isNew = id === undefined || (await query(() => seen.claim([personId, forge, id])));
      if (isNew) changes.follow(personId, forge, event);
    },
    close: () => changes.close(),
  };
}
