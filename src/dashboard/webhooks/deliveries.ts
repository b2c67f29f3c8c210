import { createHash } from 'node:crypto';
import { type ConcurrencyLimit, limitConcurrency } from '@trellis/core/concurrency';
import { AppError } from '@trellis/core/errors';
import type { Database } from '../../storage/database.js';
import { prepare } from '../../storage/prepared.js';
import type { ServerKey } from '../../storage/server-key.js';
import type { ForgeName } from '../forges/forge.js';
import type { DeliveredText } from '../notifications/mentions.js';
import { decryptWebhook } from '../settings/settings-rows.js';
import { createDeliveredChanges, type DeliveredChangesOptions, type DeliveredRead } from './delivered-changes.js';
import { findHeader, WEBHOOK_SENDERS, type WebhookDelivery } from './verify-delivery.js';

/** Limits the database connections that deliveries use, so that bursts don't make other queries time out. */
const MAX_QUERIES = 4;

interface IncomingDelivery {
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
  /** Lists the reads of this process after deliveries. */
  listReads(): readonly DeliveredRead[];
  /** Runs pending reads at once, for at most five seconds. No delivery may be passed in after this call. */
  close(): Promise<void>;
}

/** The user and the repository of a delivered text. */
interface TextPlace {
  readonly personId: string;
  readonly forge: ForgeName;
  readonly repo: string;
}

interface DeliveriesOptions extends Omit<DeliveredChangesOptions, 'now'> {
  readonly key: ServerKey;
  /** Stores a text, such as a comment. A delivery is accepted only afterwards, so that none is lost. */
  readonly onText?: (text: DeliveredText, place: TextPlace) => Promise<void>;
  readonly now?: () => number;
}

export function createDeliveries({ key, onText, now = Date.now, ...options }: DeliveriesOptions): Deliveries {
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
      const { text, fullName: repo } = event;
      if (text !== undefined && repo !== undefined) await query(async () => onText?.(text, { personId, forge, repo }));
      const id = findHeader(headers, idHeaders);
      const isNew = id === undefined || (await query(() => seen.claim([personId, forge, id])));
      if (isNew) changes.schedule(personId, forge, event);
    },
    listReads: () => changes.list(),
    close: () => changes.close(),
  };
}

/** The owner of a webhook, and the secret of its signatures. */
interface WebhookOwner {
  readonly personId: string;
  readonly secret: string;
}

interface TokenLookup {
  readonly hash: string;
  readonly at: number;
}

const findRow = prepare((database, { hash, at }: TokenLookup) =>
  database
    .selectFrom('settings')
    .select(['person_id', 'webhook'])
    .where('webhook_token_hash', '=', hash)
    .unionAll(
      database
        .selectFrom('retired_webhooks')
        .select(['person_id', 'webhook'])
        .where('token_hash', '=', hash)
        .where('expires_at', '>', at),
    ),
);

/** Looks up the token by its hash, so that the duration reveals nothing about other tokens. */
async function findWebhookOwner(
  database: Database,
  key: ServerKey,
  { token, at }: { readonly token: string; readonly at: number },
): Promise<WebhookOwner | undefined> {
  const [row] = await findRow(database, { hash: createHash('sha256').update(token).digest('hex'), at });
  return row && { personId: row.person_id, secret: decryptWebhook(key, row).secret };
}

/**
 * The number of bodies that are read concurrently per user. With 5 MiB each, they take at most 160 MiB. The limit also
 * protects against senders who know the token, which is in the URL, but not the secret.
 */
const MAX_BODIES = 32;

interface UserLimit {
  readonly run: ConcurrencyLimit;
  pending: number;
}

/** Creates a function that reads bodies with a limit per user. Further bodies wait in the order of their arrival. */
function createBodyReader(): (personId: string, read: () => Promise<Buffer>) => Promise<Buffer> {
  const limits = new Map<string, UserLimit>();
  return async (personId, read) => {
    const limit = limits.get(personId) ?? { run: limitConcurrency(MAX_BODIES), pending: 0 };
    limits.set(personId, limit);
    limit.pending += 1;
    try {
      return await limit.run(read);
    } finally {
      limit.pending -= 1;
      if (limit.pending === 0) limits.delete(personId);
    }
  };
}

/** A delivery that is replayed later is harmless: it causes one read of the repository. */
const LIFETIME_MS = 86_400_000;

/** A day of deliveries of a few busy organizations, and about 20 MB. Above that, the oldest are deleted early. */
const MAX_DELIVERIES = 100_000;

/** Entries above the limit are deleted after this many insertions. */
const PRUNE_AFTER = 1_000;

interface SeenDeliveries {
  /** Claims a delivery. @returns whether no process has claimed these parts in the last 24 hours. */
  claim(parts: readonly string[]): Promise<boolean>;
}

interface Claim {
  readonly id: string;
  readonly at: number;
  readonly expiresAt: number;
}

const insertClaim = prepare((database, { id, at, expiresAt }: Claim) =>
  database
    .insertInto('webhook_deliveries')
    .values({ id, expires_at: expiresAt })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({ expires_at: expiresAt }).where('webhook_deliveries.expires_at', '<=', at),
    )
    .returning('id'),
);

export function createSeenDeliveries(database: Database, now: () => number): SeenDeliveries {
  let unpruned = 0;
  return {
    async claim(parts) {
      const at = now();
      const claimed = await insertClaim(database, { id: hash(parts), at, expiresAt: at + LIFETIME_MS });
      unpruned = (unpruned + 1) % PRUNE_AFTER;
      if (unpruned === 0) await pruneDeliveries(database);
      return claimed.length === 1;
    },
  };
}

/** Deletes all but the newest `most` deliveries. */
export async function pruneDeliveries(database: Database, most = MAX_DELIVERIES): Promise<void> {
  const first = database.selectFrom('webhook_deliveries').select('expires_at').orderBy('expires_at', 'desc');
  await database
    .deleteFrom('webhook_deliveries')
    .where('expires_at', '<', first.limit(1).offset(most - 1))
    .execute();
}

export async function deleteExpiredDeliveries(database: Database, at: number): Promise<void> {
  await database.deleteFrom('webhook_deliveries').where('expires_at', '<=', at).execute();
}

const hash = (parts: readonly string[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('hex');
