import type { Database } from '../storage/database.js';

const DAY_MS = 86_400_000;

/** Long enough for users to find out from the list which token has expired. */
const KEEP_EXPIRED_TOKENS_MS = 30 * DAY_MS;

/** Longer than the maximum lifetime of a token. */
const KEEP_EVENTS_MS = 400 * DAY_MS;

/** Deletes expired rows. They are already ignored, so it doesn't matter when this runs. */
export async function deleteExpiredAccountData(database: Database, at: number): Promise<void> {
  for (const table of ['challenges', 'invitations', 'sessions'] as const) {
    await database.deleteFrom(table).where('expires_at', '<=', at).execute();
  }
  // The tokens of the secrets service stay until they are purged, so that its audit log remains readable.
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
