import type { PersonCaller } from '../accounts/scopes.js';
import { AppError } from '../errors.js';
import type { Database } from '../storage/database.js';
import { toUsernameKey } from '../storage/username-key.js';

/**
 * Finds whose board a caller reads: by default their own.
 *
 * @throws AppError `not_found` when there is no such owner, `forbidden` when the owner doesn't share.
 */
export async function requireOwnerId(
  database: Database,
  { personId }: PersonCaller,
  username?: string,
): Promise<string> {
  if (username === undefined) return personId;
  const owner = await database
    .selectFrom('people')
    .leftJoin('board_shares', (join) => join.onRef('owner_id', '=', 'people.id').on('viewer_id', '=', personId))
    .select(['people.id', 'viewer_id'])
    .where('username_key', '=', toUsernameKey(username))
    .executeTakeFirst();
  if (owner === undefined) throw new AppError('not_found', 'Expected the name of a user; there is none of this name.');
  if (owner.id === personId || owner.viewer_id !== null) return owner.id;
  throw new AppError('forbidden', 'Expected a board that its owner shares with you; this one is not.');
}
