import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { AppError } from '../../errors.js';
import type { Database } from '../../storage/database.js';
import type { ServerKey } from '../../storage/server-key.js';
import { markWebhookSeen } from '../actions/keep-marks.js';
import type { RepositoryAddress } from '../actions/keep-marks.js';
import type { ForgeName } from '../forges/facts.js';
import type { DeliveredEvent, Delivery } from '../forges/forge.js';
import type { Refresher } from '../refresh/refresher.js';
import { isFollowed } from './followed.js';
import { findReceiver } from './receiver.js';
import { createSeenDeliveries } from './seen-deliveries.js';
import { createReading } from './reading.js';
import { findHeader, SENDERS } from './senders.js';
import { spaced } from './spaced.js';

/** A change is seen at once; a pipeline that tells of every step for an hour costs some 120 looks at its repository. */
const REPOSITORY_SPACING = { firstMs: 2_000, mostMs: 32_000 };

/** A whole board takes dozens of requests. */
const BOARD_SPACING = { firstMs: 30_000, mostMs: 900_000 };

/** A webhook of an organization tells of repositories that are on no board; they are not looked for again this long. */
const UNKNOWN_MS = 3_600_000;
const MAX_UNKNOWN = 10_000;

/** No forge has longer names of repositories that a board could follow. */
const MAX_NAME = 255;

/** For reads that were asked for when the server stops. */
const CLOSE_MS = 5_000;

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

export interface DeliveriesOptions {
  readonly database: Database;
  readonly key: ServerKey;
  readonly refresher: Pick<Refresher, 'refresh' | 'refreshRepository'>;
  /** Is told what fails after a delivery was taken. */
  readonly report: (error: unknown) => void;
  readonly now?: (() => number) | undefined;
}

export function createDeliveries(options: DeliveriesOptions): Deliveries {
  const { database, key, refresher, report, now = Date.now } = options;
  const readInTurn = createReading();
  const seen = createSeenDeliveries(database, now);
  const repositories = spaced({ ...REPOSITORY_SPACING, report });
  const boards = spaced({ ...BOARD_SPACING, report });
  const unknown = new LRUCache<string, true>({ max: MAX_UNKNOWN, ttl: UNKNOWN_MS });

  function follow(personId: string, forge: ForgeName, { fullName }: DeliveredEvent): void {
    if (fullName === undefined || fullName.length > MAX_NAME) askBoard(personId);
    else repositories.ask([personId, forge, fullName].join(' '), () => readRepository({ personId, forge, fullName }));
  }

  function askBoard(personId: string): void {
    boards.ask(personId, () => refresher.refresh(personId));
  }

  async function readRepository(address: RepositoryAddress): Promise<void> {
    const { personId, forge, fullName } = address;
    if (await isFollowed(database, address)) {
      await markWebhookSeen(database, address, now());
      await refresher.refreshRepository(personId, forge, fullName);
      return;
    }
    // Perhaps it is new, or has a new name.
    const name = [personId, forge, fullName].join(' ');
    if (unknown.has(name)) return;
    unknown.set(name, true);
    askBoard(personId);
  }

  return {
    async take({ forge, token, headers, read }) {
      const receiver = await findReceiver(database, key, token);
      if (receiver === undefined)
        throw new AppError('not_found', 'Expected the path of a webhook; nobody has this one.');
      const { verify, idHeaders, eventHeaders, idleEvents } = SENDERS[forge];
      const event = verify({ headers, body: await readInTurn(receiver.personId, read) }, receiver.secret);
      if (event === undefined)
        throw new AppError('unauthenticated', 'Expected a delivery signed with the secret of this webhook.');
      if (idleEvents.includes(findHeader(headers, eventHeaders) ?? '')) return;
      const id = findHeader(headers, idHeaders);
      if (id !== undefined && !(await seen.claim([receiver.personId, forge, id]))) return;
      follow(receiver.personId, forge, event);
    },
    async close() {
      const ended = Promise.all([repositories.close(), boards.close()]);
      await Promise.race([ended, sleep(CLOSE_MS, undefined, { ref: false })]);
    },
  };
}
