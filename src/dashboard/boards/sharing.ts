import { AppError } from '@trellis/core/errors';
import { type Caller, requireSession, type UserCaller } from '../../accounts/callers.js';
import type { components } from '../../generated/dashboard/types.js';
import { type Database, inTransaction } from '../../storage/database.js';
import { toUsernameKey } from '../../storage/tables.js';

type SharedUser = components['schemas']['SharedUser'];
type SharingView = components['schemas']['Sharing'];

/** Shared boards. A share always covers the whole board. Requires a session (`session_required` for a token). */
export interface Sharing {
  /** Lists the users that the caller shares with, and those who share with the caller, each sorted by username. */
  list(caller: Caller | undefined): Promise<SharingView>;
  /** @throws AppError `not_found` for an unknown username, `invalid_input` for the caller's own. */
  share(caller: Caller | undefined, username: string): Promise<void>;
  /** Does nothing if the user is unknown or the board is not shared with them. */
  unshare(caller: Caller | undefined, username: string): Promise<void>;
}

export function createSharing(database: Database): Sharing {
  return {
    async list(caller) {
      const { personId } = requireSession(caller);
      return {
        sharedWith: await listSharedUsers(database, { where: 'owner_id', select: 'viewer_id', personId }),
        sharedWithMe: await listSharedUsers(database, { where: 'viewer_id', select: 'owner_id', personId }),
      };
    },
    async share(caller, username) {
      const { personId } = requireSession(caller);
      await inTransaction(database, async (transaction) => {
        const viewerId = await findId(transaction, username);
        if (viewerId === undefined) throw new AppError('not_found', `No user named "${username}".`);
        assertOtherUser(personId, viewerId);
        const row = { owner_id: personId, viewer_id: viewerId };
        const shares = transaction.insertInto('board_shares').values(row);
        await shares.onConflict((conflict) => conflict.doNothing()).execute();
      });
    },
    async unshare(caller, username) {
      const { personId } = requireSession(caller);
      const viewerId = await findId(database, username);
      if (viewerId === undefined) return;
      const shares = database.deleteFrom('board_shares').where('owner_id', '=', personId);
      await shares.where('viewer_id', '=', viewerId).execute();
    },
  };
}

function assertOtherUser(personId: string, viewerId: string): void {
  if (personId !== viewerId) return;
  throw new AppError('invalid_input', "You can't share your board with yourself.", { field: 'username' });
}

async function findId(database: Database, username: string): Promise<string | undefined> {
  const people = database.selectFrom('people').select('id').where('username_key', '=', toUsernameKey(username));
  return (await people.executeTakeFirst())?.id;
}

interface ShareQuery {
  /** The column that contains the caller. */
  readonly where: 'owner_id' | 'viewer_id';
  /** The column that contains the listed users. */
  readonly select: 'owner_id' | 'viewer_id';
  readonly personId: string;
}

async function listSharedUsers(database: Database, { where, select, personId }: ShareQuery): Promise<SharedUser[]> {
  const rows = await database
    .selectFrom('board_shares')
    .innerJoin('people', 'people.id', select)
    .select(['username', 'display_name'])
    .where(where, '=', personId)
    .orderBy('username_key')
    .execute();
  return rows.map(({ username, display_name: displayName }) => ({ username, displayName }));
}

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
