import type { Database } from '../../storage/database.js';

/** After this time without visits, a board is refreshed less often. It is refreshed soon after its owner returns. */
const IDLE_MS = 7 * 86_400_000;

/** The largest age of an idle board. */
const MAX_AGE_MS = 6 * 3_600_000;

/** The lifetime of a session after its last use, which is saved once a day. */
const SESSION_MS = 30 * 86_400_000;

/** Returns whether the board is idle and recent enough to skip a refresh. */
export async function canSkipRefresh(database: Database, personId: string, at: number): Promise<boolean> {
  const { read_at } = await database
    .selectFrom('forge_states')
    .select(({ fn }) => fn.min<number | null>('read_at').as('read_at'))
    .where('person_id', '=', personId)
    .executeTakeFirstOrThrow();
  return read_at !== null && at - read_at < MAX_AGE_MS && isIdle(database, personId, at);
}

/** Returns whether the owner has used no session or token for a week, and no other user or feed can read the board. */
async function isIdle(database: Database, personId: string, at: number): Promise<boolean> {
  const since = at - IDLE_MS;
  const active = await database
    .selectFrom('people')
    .select('people.id')
    .where('people.id', '=', personId)
    .where((is) => {
      const sessions = is.selectFrom('sessions').select('id_hash').where('sessions.person_id', '=', personId);
      const tokens = is.selectFrom('tokens').select('tokens.id').where('tokens.person_id', '=', personId);
      return is.or([
        is.exists(sessions.where('expires_at', '>', since + SESSION_MS)),
        is.exists(tokens.where((of) => of.or([of('last_used_at', '>', since), of('tokens.created_at', '>', since)]))),
        is.exists(
          is
            .selectFrom('settings')
            .select('settings.person_id')
            .where('settings.person_id', '=', personId)
            .where('saved_at', '>', since),
        ),
        is.exists(is.selectFrom('board_shares').select('owner_id').where('owner_id', '=', personId)),
        is.exists(is.selectFrom('feeds').select('feeds.id').where('feeds.person_id', '=', personId)),
      ]);
    })
    .executeTakeFirst();
  return active === undefined;
}
