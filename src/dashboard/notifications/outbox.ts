/** The outbox: events and messages that are stored before they are sent, so that none is lost or sent twice. */
import { randomUUID } from 'node:crypto';
import { type Database, inTransaction } from '../../storage/database.js';
import { sql } from '../../storage/kysely.js';
import type { NotificationChannelsTable, NotificationDeliveriesTable } from '../../storage/tables.js';
import { type Changes, isSnoozed, readOwnerState, toPullRequestKey } from '../boards/owner-state.js';
import type { PullRequest } from '../forges/forge.js';
import type { EventKind, FoundEvent, NotificationEvent } from './events.js';
import { type Message, toDigestMessage, toEventsMessage } from './messages.js';
import { findNextDigest, findQuietEnd, readPreferences } from './preferences.js';
import type { DeliveryError } from './transports.js';

const MINUTE_MS = 60_000;

interface NewEvents {
  readonly personId: string;
  readonly events: readonly FoundEvent[];
  readonly batchMinutes: number;
  readonly at: number;
}

type ChannelRules = Pick<NotificationChannelsTable, 'events' | 'id'>;

/** Lists the confirmed channels of a user. */
export async function listActiveChannels(database: Database, personId: string): Promise<ChannelRules[]> {
  return database
    .selectFrom('notification_channels')
    .select(['id', 'events'])
    .where('person_id', '=', personId)
    .where('confirmed_at', 'is not', null)
    .execute();
}

/** Stores events for the channels whose rules select them. An event that a channel has already had is skipped. */
export async function addEvents(
  transaction: Database,
  channels: readonly ChannelRules[],
  { personId, events, batchMinutes, at }: NewEvents,
): Promise<void> {
  const rows = channels.flatMap(({ id, events: rules }) => {
    const kinds = JSON.parse(rules) as readonly EventKind[];
    return events
      .filter(({ event }) => kinds.includes(event.kind))
      .map(({ key, event, isUnconfirmed = false }) => ({
        channel_id: id,
        event_key: key,
        person_id: personId,
        event: JSON.stringify(event),
        is_unconfirmed: isUnconfirmed ? 1 : 0,
        created_at: at,
        due_at: at + batchMinutes * MINUTE_MS,
      }));
  });
  // A statement has at most a few thousand parameters.
  for (let start = 0; start < rows.length; start += 200) {
    const insert = transaction.insertInto('notification_events').values(rows.slice(start, start + 200));
    await insert.onConflict((conflict) => conflict.columns(['channel_id', 'event_key']).doNothing()).execute();
  }
}

interface NewDelivery {
  readonly message: Message;
  readonly at: number;
}

type DeliveryChannel = Pick<NotificationChannelsTable, 'id' | 'kind' | 'label' | 'person_id'>;

/** Stores a message that is due at once. */
export async function addDelivery(
  transaction: Database,
  { id, kind, label, person_id }: DeliveryChannel,
  { message, at }: NewDelivery,
): Promise<NotificationDeliveriesTable> {
  const row: NotificationDeliveriesTable = {
    id: randomUUID(),
    person_id,
    channel_id: id,
    channel_kind: kind,
    channel_label: label,
    message: JSON.stringify(message),
    state: 'waiting',
    attempts: 0,
    created_at: at,
    next_at: at,
    lease_holder: null,
    lease_until: 0,
    ended_at: null,
    error: null,
  };
  await transaction.insertInto('notification_deliveries').values(row).execute();
  return row;
}

/** The number of channels that one pass handles; the next pass follows at once. */
const MAX_CHANNELS = 50;

/** More events are easier to read on the board; the others are in the next message. */
const MAX_EVENTS = 50;

/** Makes messages of the events that are due. @returns whether there may be more. */
export async function collectDueEvents(database: Database, at: number): Promise<boolean> {
  const due = await database
    .selectFrom('notification_events')
    .select('channel_id')
    .distinct()
    .where('due_at', '<=', at)
    .where('is_unconfirmed', '=', 0)
    .limit(MAX_CHANNELS)
    .execute();
  for (const { channel_id } of due) {
    await inTransaction(database, (transaction) => collectEvents(transaction, channel_id, at));
  }
  return due.length === MAX_CHANNELS;
}

function waitingEvents(database: Database, channelId: string) {
  return database
    .selectFrom('notification_events')
    .where('channel_id', '=', channelId)
    .where('is_unconfirmed', '=', 0)
    .where('due_at', 'is not', null);
}

/** Makes one message of the waiting events of a channel, or postpones them until the end of quiet hours. */
async function collectEvents(transaction: Database, channelId: string, at: number): Promise<void> {
  const channel = await transaction
    .selectFrom('notification_channels')
    .selectAll()
    .where('id', '=', channelId)
    .executeTakeFirst();
  if (channel === undefined) return;
  const { quietHours, timezone } = await readPreferences(transaction, channel.person_id);
  const quietEnd = findQuietEnd(quietHours, { at, timezone });
  if (quietEnd !== undefined) return postponeEvents(transaction, channelId, quietEnd);
  const rows = await waitingEvents(transaction, channelId)
    .select(['event_key', 'event'])
    .orderBy('created_at')
    .orderBy('event_key')
    .limit(MAX_EVENTS)
    .execute();
  if (rows.length === 0) return;
  const message = toEventsMessage(rows.map(({ event }) => JSON.parse(event) as NotificationEvent));
  await addDelivery(transaction, channel, { message, at });
  await transaction
    .updateTable('notification_events')
    .set({ due_at: null })
    .where('channel_id', '=', channelId)
    .where(
      'event_key',
      'in',
      rows.map(({ event_key }) => event_key),
    )
    .execute();
}

/** Postpones all waiting events of a channel, so that a pass that looks for due ones does not find them again. */
async function postponeEvents(transaction: Database, channelId: string, until: number): Promise<void> {
  await transaction
    .updateTable('notification_events')
    .set({ due_at: until })
    .where('channel_id', '=', channelId)
    .where('is_unconfirmed', '=', 0)
    .where('due_at', 'is not', null)
    .execute();
}

/** Makes all waiting events of a user due, because the quiet hours have changed. */
export async function makeEventsDue(transaction: Database, personId: string, at: number): Promise<void> {
  await transaction
    .updateTable('notification_events')
    .set({ due_at: at })
    .where('person_id', '=', personId)
    .where('due_at', '>', at)
    .execute();
}

/** Makes messages of the digests that are due. */
export async function createDueDigests(database: Database, at: number): Promise<void> {
  const due = await database
    .selectFrom('notification_preferences')
    .select('person_id')
    .where('digest_at', '<=', at)
    .execute();
  for (const { person_id: personId } of due) {
    await inTransaction(database, (transaction) => createDigest(transaction, personId, at));
  }
}

async function createDigest(transaction: Database, personId: string, at: number): Promise<void> {
  const schedule = transaction.selectFrom('notification_preferences').where('person_id', '=', personId);
  const { digest_at } = (await schedule.select('digest_at').executeTakeFirst()) ?? {};
  // Another process may have been faster.
  if (digest_at == null || digest_at > at) return;
  const { digest, timezone } = await readPreferences(transaction, personId);
  await transaction
    .updateTable('notification_preferences')
    .set({ digest_at: digest === undefined ? null : findNextDigest(digest, { timezone, at }) })
    .where('person_id', '=', personId)
    .execute();
  const message = toDigestMessage(await listUnsnoozed(transaction, personId, at));
  if (message === undefined) return;
  const channels = await transaction
    .selectFrom('notification_channels')
    .selectAll()
    .where('person_id', '=', personId)
    .where('digest', '=', 1)
    .where('confirmed_at', 'is not', null)
    .execute();
  for (const channel of channels) await addDelivery(transaction, channel, { message, at });
}

/** Lists the pull requests of a user's board without those that are snoozed. */
async function listUnsnoozed(transaction: Database, personId: string, at: number): Promise<PullRequest[]> {
  const boards = transaction.selectFrom('boards').select(['snapshot', 'changes']).where('person_id', '=', personId);
  const board = await boards.executeTakeFirst();
  if (board === undefined) return [];
  const { pullRequests } = JSON.parse(board.snapshot) as { readonly pullRequests: PullRequest[] };
  const changes = JSON.parse(board.changes ?? '{}') as Changes;
  const { snoozes } = await readOwnerState(transaction, personId);
  return pullRequests.filter((one) => {
    const key = toPullRequestKey(one);
    const snooze = snoozes.get(key);
    return snooze === undefined || !isSnoozed(snooze, changes[key], at);
  });
}

/** A process that sends a message renews its lease. A message whose process has ended is sent again after this time. */
const LEASE_MS = 60_000;

/** A claimed delivery: no other process sends it until the lease ends. */
export type ClaimedDelivery = NotificationDeliveriesTable & { readonly lease_holder: string };

/** Claims the deliveries that are due, those that waited longest first. */
export async function claimDueDeliveries(
  database: Database,
  { at, most }: { readonly at: number; readonly most: number },
): Promise<ClaimedDelivery[]> {
  const due = await database
    .selectFrom('notification_deliveries')
    .select('id')
    .where('state', '=', 'waiting')
    .where('next_at', '<=', at)
    .where('lease_until', '<=', at)
    .orderBy('next_at')
    .limit(most)
    .execute();
  const claimed = [];
  for (const { id } of due) {
    const delivery = await claimDelivery(database, { id, at });
    if (delivery !== undefined) claimed.push(delivery);
  }
  return claimed;
}

/**
 * Claims a delivery in one statement, so that only one of several processes succeeds, and none once a process has failed
 * and postponed it.
 */
export async function claimDelivery(
  database: Database,
  { id, at }: { readonly id: string; readonly at: number },
): Promise<ClaimedDelivery | undefined> {
  const holder = randomUUID();
  const row = await database
    .updateTable('notification_deliveries')
    .set({ lease_holder: holder, lease_until: at + LEASE_MS, attempts: sql<number>`attempts + 1` })
    .where('id', '=', id)
    .where('state', '=', 'waiting')
    .where('next_at', '<=', at)
    .where('lease_until', '<=', at)
    .returningAll()
    .executeTakeFirst();
  return row && { ...row, lease_holder: holder };
}

/** Extends the lease of an attempt that takes long, as at a slow mail server. */
export async function renewDelivery(
  database: Database,
  { id, lease_holder }: ClaimedDelivery,
  at: number,
): Promise<void> {
  await database
    .updateTable('notification_deliveries')
    .set({ lease_until: at + LEASE_MS })
    .where('id', '=', id)
    .where('lease_holder', '=', lease_holder)
    .execute();
}

/** The delays after the first attempts; later ones have the last delay. */
const DELAYS_MS = [30, 120, 300, 900, 1_800, 3_600, 7_200, 14_400].map((seconds) => seconds * 1_000);

/** After this time, a message is old news. */
const MAX_AGE_MS = 86_400_000;

/** Stores the outcome of an attempt, unless another process has claimed the delivery meanwhile. */
export async function endAttempt(
  database: Database,
  { id, lease_holder, attempts, created_at }: ClaimedDelivery,
  {
    error,
    isLast = false,
    at,
  }: { readonly error: DeliveryError | undefined; readonly isLast?: boolean; readonly at: number },
): Promise<void> {
  const delay = Math.max(DELAYS_MS[attempts - 1] ?? DELAYS_MS.at(-1) ?? 0, error?.retryAfterMs ?? 0);
  const hasFailed = error !== undefined && (isLast || error.isPermanent || at + delay > created_at + MAX_AGE_MS);
  const isWaiting = error !== undefined && !hasFailed;
  await database
    .updateTable('notification_deliveries')
    .set({
      lease_holder: null,
      lease_until: 0,
      state: isWaiting ? 'waiting' : hasFailed ? 'failed' : 'sent',
      error: error?.message ?? null,
      ...(isWaiting ? { next_at: at + delay } : { ended_at: at }),
    })
    .where('id', '=', id)
    .where('lease_holder', '=', lease_holder)
    .execute();
}

/** Long enough to find out why a message did not arrive. Event keys must outlive the pull requests that they are about. */
const LOG_MS = 30 * 86_400_000;
const KEYS_MS = 400 * 86_400_000;

/** Deletes old deliveries and event keys. */
export async function deleteOldNotifications(database: Database, at: number): Promise<void> {
  await database
    .deleteFrom('notification_deliveries')
    .where('state', '!=', 'waiting')
    .where('created_at', '<', at - LOG_MS)
    .execute();
  await database
    .deleteFrom('notification_events')
    .where('due_at', 'is', null)
    .where('created_at', '<', at - KEYS_MS)
    .execute();
}
