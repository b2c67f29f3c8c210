/** When a user receives notifications: batches, quiet hours and the digest, in the user's time zone. */
import { AppError } from '@trellis/core/errors';
import type { components } from '../../generated/dashboard/types.js';
import type { Database } from '../../storage/database.js';
import { DateTime } from '../insights/luxon.js';
import { readTimezone } from '../insights/throughput.js';

export type NotificationPreferences = components['schemas']['NotificationPreferences'];
type QuietHours = NonNullable<NotificationPreferences['quietHours']>;
type Digest = NonNullable<NotificationPreferences['digest']>;

const DEFAULTS: NotificationPreferences = { staleDays: 7, batchMinutes: 1 };

/** The preferences of a user, and the time zone of their times. */
export interface LocalPreferences extends NotificationPreferences {
  readonly timezone: string;
}

export async function readPreferences(database: Database, personId: string): Promise<LocalPreferences> {
  const row = await database
    .selectFrom('notification_preferences')
    .select('preferences')
    .where('person_id', '=', personId)
    .executeTakeFirst();
  const preferences = row === undefined ? DEFAULTS : (JSON.parse(row.preferences) as NotificationPreferences);
  return { ...preferences, timezone: await readTimezone(database, personId) };
}

/** @throws AppError `invalid_input` for quiet hours that would never end. */
export async function savePreferences(
  transaction: Database,
  personId: string,
  { preferences, at }: { readonly preferences: NotificationPreferences; readonly at: number },
): Promise<void> {
  const { digest, quietHours } = preferences;
  if (quietHours !== undefined && quietHours.from === quietHours.to) {
    const message = 'Expected the quiet hours to end at a different time than they begin.';
    throw new AppError('invalid_input', message, { field: 'quietHours.to' });
  }
  const timezone = await readTimezone(transaction, personId);
  const digest_at = digest === undefined ? null : findNextDigest(digest, { timezone, at });
  const row = { preferences: JSON.stringify(preferences), digest_at };
  await transaction
    .insertInto('notification_preferences')
    .values({ person_id: personId, ...row })
    .onConflict((conflict) => conflict.column('person_id').doUpdateSet(row))
    .execute();
}

/** Schedules the next digest of a user in the time zone of the settings. */
export async function scheduleDigest(transaction: Database, personId: string, at: number): Promise<void> {
  const { digest, timezone } = await readPreferences(transaction, personId);
  if (digest === undefined) return;
  const next = transaction.updateTable('notification_preferences').set({
    digest_at: findNextDigest(digest, { timezone, at }),
  });
  await next.where('person_id', '=', personId).execute();
}

/** A moment, in milliseconds, and the time zone in which it is judged. */
interface LocalMoment {
  readonly at: number;
  readonly timezone: string;
}

const toLocal = ({ at, timezone }: LocalMoment): DateTime => DateTime.fromMillis(at, { zone: timezone });

/** Sets the clock of a day. A time that the day skips, because clocks are set forward, becomes the later one. */
function atClock(day: DateTime, time: string): DateTime {
  const [hour, minute] = time.split(':').map(Number);
  return day.set({ hour, minute, second: 0, millisecond: 0 });
}

/**
 * Returns when the quiet hours end in which a moment is, in milliseconds; `undefined` outside of them. Hours
 * that end when they begin, which earlier releases stored, are ignored.
 */
export function findQuietEnd(quietHours: QuietHours | undefined, moment: LocalMoment): number | undefined {
  if (quietHours === undefined || quietHours.from === quietHours.to) return undefined;
  const now = toLocal(moment);
  // The quiet hours that began yesterday may end today.
  for (const day of [now.minus({ days: 1 }), now]) {
    const from = atClock(day, quietHours.from);
    const to = atClock(quietHours.to > quietHours.from ? day : day.plus({ days: 1 }), quietHours.to);
    if (from <= now && now < to) return to.toMillis();
  }
  return undefined;
}

const DAYS_A_WEEK = 7;

/** Returns the first time of a digest after a moment, in milliseconds. */
export function findNextDigest({ at: time, weekdays }: Digest, moment: LocalMoment): number {
  const now = toLocal(moment);
  for (let days = 0; days <= DAYS_A_WEEK; days += 1) {
    const next = atClock(now.plus({ days }), time);
    if (next > now && weekdays.includes(next.weekday)) return next.toMillis();
  }
  throw new Error('A digest without a weekday has no next time.');
}
