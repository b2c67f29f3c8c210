/** Reminders of secrets whose value is due for rotation. */
import { type Database, inTransaction } from '../../storage/database.js';
import type { FoundEvent } from './events.js';
import { addEvents, listActiveChannels } from './outbox.js';
import { readPreferences } from './preferences.js';

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
export async function recordRotations(due: readonly DueRotation[], options: RotationsOptions): Promise<void> {
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
