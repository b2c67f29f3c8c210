import type { Database } from '../storage/database.js';

const DAY_MS = 86_400_000;

/** Long enough to see in the list which token it was that no longer works. */
const KEEP_EXPIRED_TOKENS_MS = 30 * DAY_MS;

/** Longer than the longest token lives. */
const KEEP_EVENTS_MS = 400 * DAY_MS;

/** Deletes what time has ended: nothing of it holds any more, so it does not matter when this runs. */
export async function sweepAccounts(database: Database, at: number): Promise<void> {
  for (const table of ['challenges', 'invitations', 'sessions'] as const) {
    await database.deleteFrom(table).where('expires_at', '<=', at).execute();
  }
  // Those of the secrets service stay until they are purged, so that its audit log can be read.
  await database
    .deleteFrom('tokens')
    .where('kind', '=', 'personal')
    .where('expires_at', '<=', at - KEEP_EXPIRED_TOKENS_MS)
    .execute();
  await database
    .deleteFrom('account_events')
    .where('at', '<=', at - KEEP_EVENTS_MS)
    .execute();
}
