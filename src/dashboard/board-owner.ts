import type { UserCaller } from '../accounts/callers.js';
import { AppError } from '../core/errors.js';
import type { Database } from '../storage/database.js';
import { toUsernameKey } from '../storage/tables.js';

/**
 * Returns the user id of the owner of a board, by default the caller's own.
 *
 * @throws AppError `not_found` for an unknown username, `forbidden` if the owner doesn't share the board with the
 * caller.
 */
export async function getBoardOwnerId(
  database: Database,
  { personId }: UserCaller,
  username?: string,
): Promise<string> {
  if (username === undefined) return personId;
  const owner = await database
    .selectFrom('people')
    .leftJoin('board_shares', (join) => join.onRef('owner_id', '=', 'people.id').on('viewer_id', '=', personId))
    .select(['people.id', 'viewer_id'])
    .where('username_key', '=', toUsernameKey(username))
    .executeTakeFirst();
  if (owner === undefined) throw new AppError('not_found', `No user named "${username}".`);
  if (owner.id === personId || owner.viewer_id !== null) return owner.id;
  throw new AppError('forbidden', "This board isn't shared with you.");
}
