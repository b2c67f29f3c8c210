/** Notifications: messages to users about the changes of their boards. */
import { type Caller, requireSession, requireUser } from '../../accounts/callers.js';
import type { components } from '../../generated/dashboard/types.js';
import { type Database, inTransaction } from '../../storage/database.js';
import type { ServerKey } from '../../storage/server-key.js';
import type { NotificationDeliveriesTable } from '../../storage/tables.js';
import type { BoardSnapshot } from '../boards/board.js';
import type { Forge, ForgeName } from '../forges/forge.js';
import { listStoredCredentials, decryptForgeSettings, findSettingsRow } from '../settings/settings-rows.js';
import { addConfirmation, type Channels, contextOf, createChannels, getChannel } from './channels.js';
import { findEvents, type FoundEvent } from './events.js';
import { type DeliveredText, findMention } from './mentions.js';
import { type Message, TEST_MESSAGE } from './messages.js';
import { addDelivery, addEvents, claimDelivery, listActiveChannels, makeEventsDue } from './outbox.js';
import { type NotificationPreferences, readPreferences, savePreferences, scheduleDigest } from './preferences.js';
import { createPushKeys, PUSH_KEYS_CONTEXT, type ChannelKind, createSenders, type SendersOptions } from './senders.js';
import { createNotificationWorker, type NotificationWorker } from './worker.js';

type Schemas = components['schemas'];
type NotificationSettings = Schemas['NotificationSettings'];
type DeliveryEntry = Schemas['NotificationDelivery'];

export interface Notifications {
  readonly channels: Pick<Channels, 'confirm' | 'create' | 'delete' | 'save'>;
  readonly worker: Pick<NotificationWorker, 'close' | 'start' | 'wake'>;
  read(caller: Caller | undefined): Promise<NotificationSettings>;
  save(caller: Caller | undefined, preferences: NotificationPreferences): Promise<NotificationSettings>;
  /**
   * Makes one attempt to send a test message, or the code to an address that is not confirmed.
   *
   * @throws AppError `session_required` for a token, `not_found` for an unknown channel, `rate_limited` for too many codes.
   */
  test(caller: Caller | undefined, channelId: string): Promise<DeliveryEntry>;
  /** Lists the caller's deliveries, the newest first. */
  listDeliveries(
    caller: Caller | undefined,
    page: Page,
  ): Promise<{ readonly entries: DeliveryEntry[]; readonly total: number }>;
  /** Schedules the digest and the waiting events of a user again, in the transaction that saves a new time zone. */
  readonly moveToTimezone: (transaction: Database, personId: string) => Promise<void>;
  /** Stores the events of a new board, in the transaction that saves it. Call it before the board is replaced. */
  recordBoard(transaction: Database, board: NewBoard): Promise<void>;
  /** Stores a mention of the user in a delivered text. A text that is delivered again has no further effect. */
  recordText(text: DeliveredText, place: TextPlace): Promise<void>;
  /** Stores reminders of secrets that are due for rotation: for each channel at most one a week of the same value. */
  recordRotations(due: readonly DueRotation[]): Promise<void>;
}

interface Page {
  readonly limit: number;
  readonly offset: number;
}

interface NewBoard {
  readonly personId: string;
  readonly snapshot: BoardSnapshot;
  readonly at: number;
}

interface TextPlace {
  readonly personId: string;
  readonly forge: ForgeName;
  readonly repo: string;
}

export interface NotificationsOptions extends Pick<SendersOptions, 'allow' | 'origin' | 'smtp'> {
  readonly database: Database;
  readonly key: ServerKey;
  readonly getForges: (personId: string) => Promise<ReadonlyMap<ForgeName, Forge>>;
  readonly report?: (error: unknown) => void;
  /** Called when a message may be due, which the worker of a different process may have to send. */
  readonly onQueued?: () => void;
  /** How often the worker looks for due work. */
  readonly lookMs?: number;
  readonly now: () => number;
}

export function createNotifications(options: NotificationsOptions): Notifications {
  const { database, key, now, report = () => undefined, onQueued } = options;
  const readPushKeys = createPushKeys(database, key);
  const senders = createSenders({ ...options, readPushKeys });
  const worker = createNotificationWorker({ ...options, senders, report });
  const wakeAll = (): void => {
    worker.wake();
    onQueued?.();
  };
  const channels = createChannels({ database, key, senders, wake: wakeAll, now });

  async function read(caller: Caller | undefined): Promise<NotificationSettings> {
    const { personId } = requireUser(caller);
    return {
      ...(await readPreferences(database, personId)),
      emailAvailable: senders.hasEmail,
      pushPublicKey: (await readPushKeys()).publicKey,
      channels: await channels.list(caller),
    };
  }

  return {
    channels,
    worker: {
      start: worker.start,
      wake: worker.wake,
      async close() {
        await worker.close();
        senders.close();
      },
    },
    read,
    async save(caller, preferences) {
      const { personId } = requireUser(caller);
      await inTransaction(database, async (transaction) => {
        await savePreferences(transaction, personId, { preferences, at: now() });
        await makeEventsDue(transaction, personId, now());
      });
      wakeAll();
      return read(caller);
    },
    async test(caller, channelId) {
      const { personId } = requireSession(caller);
      // Claimed in the transaction that adds it, so that no worker process sends it first.
      const claimed = await inTransaction(database, async (transaction) => {
        const channel = await getChannel(transaction, personId, channelId);
        const isConfirmed = channel.confirmed_at !== null;
        const at = now();
        const { id } = isConfirmed
          ? await addDelivery(transaction, channel, { message: TEST_MESSAGE, at })
          : await addConfirmation(transaction, channel, at);
        return claimDelivery(transaction, { id, at });
      });
      if (claimed === undefined) throw new Error('A new delivery could not be claimed.');
      await worker.attempt(claimed, true);
      const own = database.selectFrom('notification_deliveries').selectAll().where('id', '=', claimed.id);
      return toEntry(await own.executeTakeFirstOrThrow(), now());
    },
    async listDeliveries(caller, { limit, offset }) {
      const { personId } = requireUser(caller);
      const own = database.selectFrom('notification_deliveries').where('person_id', '=', personId);
      const { total } = await own.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
      const newest = own.selectAll().orderBy('created_at', 'desc').orderBy('id').limit(limit).offset(offset);
      return { entries: (await newest.execute()).map((row) => toEntry(row, now())), total };
    },
    async moveToTimezone(transaction, personId) {
      await scheduleDigest(transaction, personId, now());
      await makeEventsDue(transaction, personId, now());
    },
    recordBoard: (transaction, board) => recordBoard(transaction, key, board),
    async recordText(text, place) {
      if (await recordText({ database, key, now }, text, place)) wakeAll();
    },
    async recordRotations(due) {
      await recordRotations(due, { database, origin: options.origin, at: now() });
      wakeAll();
    },
  };
}

async function recordBoard(transaction: Database, key: ServerKey, { personId, snapshot, at }: NewBoard): Promise<void> {
  const channels = await listActiveChannels(transaction, personId);
  if (channels.length === 0) return;
  const boards = transaction.selectFrom('boards').select(['generated_at', 'snapshot']);
  const last = await boards.where('person_id', '=', personId).executeTakeFirst();
  const settings = await findSettingsRow(transaction, personId);
  if (last === undefined || settings === undefined) return;
  const { githubUsername, forgejoUsername, gitlabUsername } = decryptForgeSettings(key, settings);
  const further = await listStoredCredentials(transaction, key, personId);
  const { staleDays, batchMinutes } = await readPreferences(transaction, personId);
  const events = findEvents({
    before: JSON.parse(last.snapshot) as BoardSnapshot,
    beforeAt: last.generated_at,
    after: snapshot,
    at,
    usernames: { github: githubUsername, forgejo: forgejoUsername, gitlab: gitlabUsername },
    credentialUsernames: new Map(further.map(({ id, username }) => [id, username])),
    staleDays,
  });
  await addEvents(transaction, channels, { personId, events, batchMinutes, at });
}

type TextOptions = Pick<NotificationsOptions, 'database' | 'key' | 'now'>;

/** @returns whether the text mentions the user. */
async function recordText(
  { database, key, now }: TextOptions,
  text: DeliveredText,
  { personId, forge, repo }: TextPlace,
): Promise<boolean> {
  if (!text.text.includes('@')) return false;
  const channels = await listActiveChannels(database, personId);
  const settings = channels.length === 0 ? undefined : await findSettingsRow(database, personId);
  if (settings === undefined) return false;
  const further = (await listStoredCredentials(database, key, personId)).filter((one) => one.forge === forge);
  const own = decryptForgeSettings(key, settings)[`${forge}Username`];
  const usernames = new Set([own, ...further.map(({ username }) => username)].filter((username) => username !== ''));
  const [event] = [...usernames].flatMap((username) => findMention(text, { forge, repo, username }) ?? []);
  if (event === undefined) return false;
  const { batchMinutes } = await readPreferences(database, personId);
  await addEvents(database, channels, { personId, events: [event], batchMinutes, at: now() });
  return true;
}

function toEntry(row: NotificationDeliveriesTable, at: number): DeliveryEntry {
  const { kind, title } = JSON.parse(row.message) as Message;
  const isSending = row.state === 'waiting' && row.lease_until > at;
  return {
    id: row.id,
    kind,
    // Only values of the contract are stored.
    channel: { id: row.channel_id, kind: row.channel_kind as ChannelKind, label: row.channel_label },
    title,
    state: isSending ? 'sending' : (row.state as DeliveryEntry['state']),
    attempts: row.attempts,
    createdAt: toTime(row.created_at),
    ...(row.state === 'waiting' && !isSending && { nextAttemptAt: toTime(row.next_at) }),
    ...(row.ended_at !== null && { endedAt: toTime(row.ended_at) }),
    ...(row.error !== null && { error: row.error }),
  };
}

const toTime = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** Encrypts the addresses of channels and the push key with a new server key. */
export async function reencryptNotifications(transaction: Database, from: ServerKey, to: ServerKey): Promise<void> {
  for (const channel of await transaction.selectFrom('notification_channels').select(['id', 'sealed']).execute()) {
    const context = contextOf(channel.id);
    await transaction
      .updateTable('notification_channels')
      .set({ sealed: to.encrypt(from.decrypt(channel.sealed, context), context) })
      .where('id', '=', channel.id)
      .execute();
  }
  for (const { id, sealed } of await transaction.selectFrom('push_keys').select(['id', 'sealed']).execute()) {
    const renewed = to.encrypt(from.decrypt(sealed, PUSH_KEYS_CONTEXT), PUSH_KEYS_CONTEXT);
    await transaction.updateTable('push_keys').set({ sealed: renewed }).where('id', '=', id).execute();
  }
}

/** A secret whose value is due for rotation. */
export interface DueRotation {
  readonly id: string;
  /** The name of the secret. */
  readonly slug: string;
  /** The version of the value, so that the next value has reminders of its own. */
  readonly version: number;
}

interface RotationsOptions {
  readonly database: Database;
  readonly origin: () => string;
  readonly at: number;
}

/** The time between two reminders of the same value, in milliseconds. */
const REPEAT_MS = 7 * 86_400_000;

const KIND = 'rotation_due';

/** Stores reminders for the admins, who own the secrets, unless a channel had one for the same value within a week. */
async function recordRotations(due: readonly DueRotation[], options: RotationsOptions): Promise<void> {
  if (due.length === 0) return;
  const admins = await options.database.selectFrom('people').select('id').where('is_admin', '=', 1).execute();
  for (const { id } of admins) {
    await inTransaction(options.database, (transaction) => remind(id, due, { ...options, database: transaction }));
  }
}

async function remind(
  personId: string,
  due: readonly DueRotation[],
  { database, origin, at }: RotationsOptions,
): Promise<void> {
  const channels = await listActiveChannels(database, personId);
  if (channels.length === 0) return;
  const { batchMinutes } = await readPreferences(database, personId);
  const recent = await database
    .selectFrom('notification_events')
    .select(['channel_id', 'event_key'])
    .where('person_id', '=', personId)
    .where('event_key', 'like', `${KIND} %`)
    .where('created_at', '>', at - REPEAT_MS)
    .execute();
  for (const channel of channels) {
    const own = recent.filter(({ channel_id }) => channel_id === channel.id).map(({ event_key }) => event_key);
    const reminded = new Set(own.map((key) => key.slice(0, key.lastIndexOf(' '))));
    const rest = due.filter((one) => !reminded.has(toKey(one)));
    const events = rest.map((one): FoundEvent => {
      const url = new URL(`/vault/objects/${encodeURIComponent(one.slug)}`, origin()).href;
      return { key: `${toKey(one)} ${at}`, event: { kind: KIND, secret: one.slug, url } };
    });
    await addEvents(database, [channel], { personId, events, batchMinutes, at });
  }
}

const toKey = ({ id, version }: DueRotation): string => `${KIND} ${id} ${version}`;
