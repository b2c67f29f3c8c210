import type { components } from '../../generated/dashboard/types.js';
import type { Database } from '../../storage/database.js';
import type { ChannelKind } from './senders.js';

type NotificationJobs = components['schemas']['NotificationJobs'];

const DAY_MS = 86_400_000;

/** Returns the queue of notifications of all servers, with the first `most` messages. */
export async function readNotificationQueue(
  database: Database,
  { at, most }: { readonly at: number; readonly most: number },
): Promise<NotificationJobs> {
  const counted = database.selectFrom('notification_deliveries').select(({ fn }) => fn.countAll<number>().as('count'));
  const waiting = await counted.where('state', '=', 'waiting').executeTakeFirstOrThrow();
  const failed = await counted
    .where('state', '=', 'failed')
    .where('ended_at', '>', at - DAY_MS)
    .executeTakeFirstOrThrow();
  const collecting = await database
    .selectFrom('notification_events')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('due_at', 'is not', null)
    .executeTakeFirstOrThrow();
  const rows = await database
    .selectFrom('notification_deliveries')
    .innerJoin('people', 'people.id', 'notification_deliveries.person_id')
    .select(['username', 'channel_kind', 'attempts', 'next_at', 'lease_until', 'error'])
    .where('state', '=', 'waiting')
    .orderBy('next_at')
    .limit(most)
    .execute();
  return {
    collecting: collecting.count,
    waiting: waiting.count,
    failed: failed.count,
    deliveries: rows.map(({ username, channel_kind, attempts, next_at, lease_until, error }) => ({
      username,
      // Only values of the contract are stored.
      kind: channel_kind as ChannelKind,
      state: lease_until > at ? ('sending' as const) : ('waiting' as const),
      attempts,
      nextAttemptAt: new Date(next_at).toISOString(),
      ...(error !== null && { error }),
    })),
  };
}
