/** Where users receive notifications. */
import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { base32crockford } from '@scure/base';
import { AppError, rateLimitError } from '@trellis/core/errors';
import { assertSessionOpen, type Caller, requireSession, requireUser } from '../../accounts/callers.js';
import type { components } from '../../generated/dashboard/types.js';
import { type Database, inTransaction } from '../../storage/database.js';
import type { ServerKey } from '../../storage/server-key.js';
import type { NotificationChannelsTable, NotificationDeliveriesTable } from '../../storage/tables.js';
import type { EventKind } from './events.js';
import type { Message } from './messages.js';
import { addDelivery } from './outbox.js';
import type { ChannelAddress, ChannelKind, Senders } from './senders.js';
import { findUrlProblem } from './transports.js';

type Schemas = components['schemas'];
export type Channel = Schemas['NotificationChannel'];
type CreatedChannel = Schemas['CreatedNotificationChannel'];
type NewChannel = Schemas['CreateNotificationChannel'];
type Rules = Schemas['NotificationRules'];

/** More than a user can keep apart in a list. */
const MAX_CHANNELS = 20;

/** Guessing one of 2^40 codes is infeasible with so few tries. */
const MAX_CODE_TRIES = 10;

export interface Channels {
  /** Lists channels, the oldest first. */
  list(caller: Caller | undefined): Promise<Channel[]>;
  /**
   * Creates a channel. E-mail addresses receive a code.
   *
   * @throws AppError `session_required` for a token; `invalid_input` if the address that the kind requires is missing or
   * the server may not connect to it; `conflict` if the caller has 20 channels; `rate_limited` for too many codes;
   * `unauthenticated` if the session has ended.
   */
  create(caller: Caller | undefined, channel: NewChannel): Promise<CreatedChannel>;
  /** @throws AppError `not_found` for an unknown id. */
  save(caller: Caller | undefined, id: string, rules: Rules): Promise<Channel>;
  delete(caller: Caller | undefined, id: string): Promise<void>;
  /** @throws AppError `not_found` for an unknown id, `invalid_input` for a wrong code, `conflict` after ten of them. */
  confirm(caller: Caller | undefined, id: string, code: string): Promise<Channel>;
}

interface ChannelsOptions {
  readonly database: Database;
  readonly key: ServerKey;
  readonly senders: Pick<Senders, 'hasEmail' | 'policy'>;
  /** Called when a message is waiting. */
  readonly wake: () => void;
  readonly now: () => number;
}

const CONFIRMATION: Message = { kind: 'confirmation', title: 'Confirm this address' };

export function createChannels({ database, key, senders, wake, now }: ChannelsOptions): Channels {
  return {
    async list(caller) {
      const rows = await ownChannels(database, requireUser(caller).personId).selectAll().execute();
      return rows.toSorted((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1)).map(toChannel);
    },
    async create(caller, channel) {
      const session = requireSession(caller);
      const { personId } = session;
      const address = await toAddress(channel, senders);
      const id = randomUUID();
      const row: NotificationChannelsTable = {
        id,
        person_id: personId,
        kind: channel.kind,
        ...toRuleColumns(channel),
        target: targetOf(address),
        sealed: key.encrypt(JSON.stringify(address), contextOf(id)),
        created_at: now(),
        confirmed_at: channel.kind === 'email' ? null : now(),
        code_tries: 0,
      };
      await inTransaction(database, async (transaction) => {
        await assertSessionOpen(transaction, session);
        await assertBelowLimit(transaction, personId);
        await transaction.insertInto('notification_channels').values(row).execute();
        if (channel.kind === 'email') await addConfirmation(transaction, row, now());
      });
      wake();
      return { ...toChannel(row), ...(address.kind === 'webhook' && { secret: address.secret }) };
    },
    async save(caller, id, rules) {
      const { personId } = requireUser(caller);
      const change = database.updateTable('notification_channels').set(toRuleColumns(rules)).where('id', '=', id);
      const row = await change.where('person_id', '=', personId).returningAll().executeTakeFirst();
      if (row === undefined) throw unknownChannel();
      return toChannel(row);
    },
    async delete(caller, id) {
      const { personId } = requireSession(caller);
      await inTransaction(database, (transaction) => deleteChannel(transaction, { id, personId, at: now() }));
    },
    async confirm(caller, id, code) {
      const { personId } = requireSession(caller);
      const row = await inTransaction(database, async (transaction) => {
        const found = await getChannel(transaction, personId, id);
        if (found.code_tries >= MAX_CODE_TRIES) throw new AppError('conflict', TOO_MANY_TRIES);
        const isRight = isSameCode(code, toCode(key, id));
        const change = isRight ? { confirmed_at: now() } : { code_tries: found.code_tries + 1 };
        await transaction.updateTable('notification_channels').set(change).where('id', '=', id).execute();
        return isRight ? { ...found, ...change } : undefined;
      });
      if (row !== undefined) return toChannel(row);
      throw new AppError('invalid_input', 'Expected the code of the latest e-mail; received another one.', {
        field: 'code',
      });
    },
  };
}

/** A code for each channel. The addresses may belong to others, who have not asked for messages. */
const MAX_CODES = 20;
const CODES_SECONDS = 3_600;

/**
 * Stores a message with the code of a channel.
 *
 * @throws AppError `rate_limited` if the user has sent 20 codes in the last hour, also by channels that were deleted since.
 */
export async function addConfirmation(
  transaction: Database,
  channel: NotificationChannelsTable,
  at: number,
): Promise<NotificationDeliveriesTable> {
  const sent = await transaction
    .selectFrom('notification_deliveries')
    .select('created_at')
    .where('person_id', '=', channel.person_id)
    .where('message', '=', JSON.stringify(CONFIRMATION))
    .where('created_at', '>', at - CODES_SECONDS * 1_000)
    .orderBy('created_at')
    .execute();
  const [first] = sent;
  if (first !== undefined && sent.length >= MAX_CODES) {
    const resetSeconds = Math.ceil((first.created_at - at) / 1_000) + CODES_SECONDS;
    const message = `You have reached the limit of ${MAX_CODES} codes in an hour. Retry in ${resetSeconds} s.`;
    throw rateLimitError(message, { limit: MAX_CODES, windowSeconds: CODES_SECONDS, resetSeconds });
  }
  return addDelivery(transaction, channel, { message: CONFIRMATION, at });
}

const TOO_MANY_TRIES = 'Too many wrong codes. Delete the channel, and create it again.';

const unknownChannel = (): AppError => new AppError('not_found', 'Unknown notification channel.');

/** The encryption context binds an address to its channel. */
export const contextOf = (id: string): string => `notification channel ${id}`;

/** Returns one of the user's channels. @throws AppError `not_found` for an unknown id. */
export async function getChannel(database: Database, personId: string, id: string): Promise<NotificationChannelsTable> {
  const row = await ownChannels(database, personId).selectAll().where('id', '=', id).executeTakeFirst();
  if (row === undefined) throw unknownChannel();
  return row;
}

export function decryptAddress(
  key: ServerKey,
  { id, sealed }: Pick<NotificationChannelsTable, 'id' | 'sealed'>,
): ChannelAddress {
  return JSON.parse(key.decrypt(sealed, contextOf(id))) as ChannelAddress;
}

/** Deletes a channel with its events, and ends its waiting deliveries. */
export async function deleteChannel(
  transaction: Database,
  { id, personId, at }: { readonly id: string; readonly personId: string; readonly at: number },
): Promise<void> {
  await transaction
    .deleteFrom('notification_channels')
    .where('id', '=', id)
    .where('person_id', '=', personId)
    .execute();
  await transaction
    .updateTable('notification_deliveries')
    .set({ state: 'failed', ended_at: at, error: 'The channel was deleted.', lease_holder: null, lease_until: 0 })
    .where('channel_id', '=', id)
    .where('person_id', '=', personId)
    .where('state', '=', 'waiting')
    .execute();
}

function ownChannels(database: Database, personId: string) {
  return database.selectFrom('notification_channels').where('person_id', '=', personId);
}

async function assertBelowLimit(transaction: Database, personId: string): Promise<void> {
  const own = ownChannels(transaction, personId).select(({ fn }) => fn.countAll<number>().as('count'));
  const { count } = await own.executeTakeFirstOrThrow();
  if (count >= MAX_CHANNELS) {
    throw new AppError('conflict', `You have reached the limit of ${MAX_CHANNELS} channels. Delete one first.`);
  }
}

const toRuleColumns = ({ label, events, digest }: Rules) => {
  return { label: label.trim(), events: JSON.stringify(events), digest: digest ? 1 : 0 };
};

function toChannel(row: NotificationChannelsTable): Channel {
  const { id, kind, label, target, events, digest, created_at, confirmed_at } = row;
  return {
    id,
    // Only values of the contract are stored.
    kind: kind as ChannelKind,
    label,
    target,
    state: confirmed_at === null ? 'unconfirmed' : 'active',
    events: JSON.parse(events) as EventKind[],
    digest: digest === 1,
    createdAt: new Date(created_at).toISOString(),
  };
}

type AddressCheck = Pick<Senders, 'hasEmail' | 'policy'>;

async function toAddress(channel: NewChannel, { hasEmail, policy }: AddressCheck): Promise<ChannelAddress> {
  const { kind } = channel;
  if (kind === 'email') {
    if (!hasEmail) throw new AppError('invalid_input', 'This server does not send e-mail.', { field: 'kind' });
    return { kind, address: requireField(channel, 'address') };
  }
  if (kind === 'web_push') {
    const { endpoint, keys } = requireField(channel, 'subscription');
    await assertUrl('subscription', endpoint, policy);
    return { kind, subscription: { endpoint, keys } };
  }
  const url = requireField(channel, 'url');
  await assertUrl('url', url, policy);
  return kind === 'slack' ? { kind, url } : { kind, url, secret: `whsec_${randomBytes(32).toString('base64')}` };
}

type AddressField = 'address' | 'subscription' | 'url';

function requireField<Field extends AddressField>(channel: NewChannel, field: Field): NonNullable<NewChannel[Field]> {
  const value = channel[field];
  if (value !== undefined) return value;
  throw new AppError('invalid_input', `Channels of the kind ${channel.kind} require ${field}.`, { field });
}

/** The URL is not quoted in the error, as it may contain a secret. */
async function assertUrl(field: AddressField, url: string, policy: Senders['policy']): Promise<void> {
  const expected = await findUrlProblem(url, policy);
  if (expected === undefined) return;
  throw new AppError('invalid_input', `Expected ${field} to be ${expected}.`, { field });
}

function targetOf(address: ChannelAddress): string {
  if (address.kind === 'email') return address.address;
  return new URL(address.kind === 'web_push' ? address.subscription.endpoint : address.url).host;
}

const CODE_BYTES = 5;

/** Returns the code that confirms a channel. It is derived, so that each e-mail contains the same one. */
export function toCode(key: ServerKey, id: string): string {
  const digest = createHmac('sha256', key.derive('notification codes')).update(id).digest();
  return base32crockford.encode(digest.subarray(0, CODE_BYTES));
}

/** Compares codes in constant time, regardless of case, spaces and letters that look alike. */
function isSameCode(given: string, code: string): boolean {
  const plain = given.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1');
  const [one, other] = [Buffer.from(plain), Buffer.from(code)];
  return one.length === other.length && timingSafeEqual(one, other);
}
