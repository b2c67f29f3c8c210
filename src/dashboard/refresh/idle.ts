import type { Database } from '../../storage/database.js';

/** Nobody has looked at a board for so long: it can wait for its reader, who comes back to one that is refreshed soon. */
const IDLE_MS = 7 * 86_400_000;

/** How old a board becomes that nobody looks at. */
const MAX_AGE_MS = 6 * 3_600_000;

/** Sessions live on for so long from their last use, which is written once a day. */
const SESSION_MS = 30 * 86_400_000;

/** Whether nobody misses a refresh of the board now. */
export async function mayWait(database: Database, personId: string, at: number): Promise<boolean> {
  const { read_at } = await database
    .selectFrom('forge_states')
    .select(({ fn }) => fn.min<number | null>('read_at').as('read_at'))
    .where('person_id', '=', personId)
    .executeTakeFirstOrThrow();
  return read_at !== null && at - read_at < MAX_AGE_MS && isIdle(database, personId, at);
}

/** Whether its owner has not been here for a week, nor by a token, and nobody else may look at the board. */
async function isIdle(database: Database, personId: string, at: number): Promise<boolean> {
  const since = at - IDLE_MS;
  const looking = await database
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
  return looking === undefined;
}
