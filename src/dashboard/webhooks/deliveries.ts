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

/** Of the database's connections, so that however many come at once, none waits for one until it is given up. */
const ROOM = 4;

export interface IncomingDelivery {
  readonly forge: ForgeName;
  /** Of the path. */
  readonly token: string;
  readonly headers: Delivery['headers'];
  /** Reads the body. */
  readonly read: () => Promise<Buffer>;
}

export interface Deliveries {
  /**
   * Takes a delivery. Once this is done the sender may be told so: what follows
   * from it is done by itself, soon, and once for many deliveries.
   *
   * @throws AppError `not_found` before anything is read when nobody has the
   * token; `unauthenticated` when the body isn't signed with their secret.
   */
  take(delivery: IncomingDelivery): Promise<void>;
  /** Does what is still to be done at once, for five seconds at most. Nothing may be taken any more. */
  close(): Promise<void>;
}

export interface DeliveriesOptions extends Omit<DeliveredChangesOptions, 'now'> {
  readonly key: ServerKey;
  readonly now?: (() => number) | undefined;
}

export function createDeliveries({ key, now = Date.now, ...options }: DeliveriesOptions): Deliveries {
  const { database } = options;
  const readInTurn = createReading();
  const ask = inTurn(ROOM);
  const seen = createSeenDeliveries(database, now);
  const changes = createDeliveredChanges({ ...options, now });
  return {
    async take({ forge, token, headers, read }) {
      const receiver = await ask(() => findReceiver(database, key, { token, at: now() }));
      if (receiver === undefined) throw new AppError('not_found', 'Expected the path of a webhook; it is none.');
      const { personId, secret } = receiver;
      const { verify, idHeaders, eventHeaders, idleEvents } = SENDERS[forge];
      const event = verify({ headers, body: await readInTurn(personId, read) }, secret);
      if (event === undefined)
        throw new AppError('unauthenticated', "Expected a delivery signed with the webhook's secret.");
      if (idleEvents.includes(findHeader(headers, eventHeaders) ?? '')) return;
      const id = findHeader(headers, idHeaders);
      const isNew = id === undefined || (await ask(() => seen.claim([personId, forge, id])));
      if (isNew) changes.follow(personId, forge, event);
    },
    close: () => changes.close(),
  };
}
