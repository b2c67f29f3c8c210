import type { Caller } from '../accounts/callers.js';
import { requireSession } from '../accounts/scopes.js';
import { AppError } from '../errors.js';
import type { components } from '../generated/dashboard/types.js';
import { inTransaction } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import { toUsernameKey } from '../storage/username-key.js';

type SharedUser = components['schemas']['SharedUser'];
type SharingView = components['schemas']['Sharing'];

/** Who may read whose board: always the whole of it. For sessions only: `session_required` for a token. */
export interface Sharing {
  /** Both lists by username. */
  list(caller: Caller | undefined): Promise<SharingView>;
  /** @throws AppError `not_found` for an unknown name, `invalid_input` for the caller's own. */
  share(caller: Caller | undefined, username: string): Promise<void>;
  /** Does nothing for a name that is unknown, or that nothing is shared with. */
  unshare(caller: Caller | undefined, username: string): Promise<void>;
}

export function createSharing(database: Database): Sharing {
  return {
    async list(caller) {
      const { personId } = requireSession(caller);
      return {
        sharedWith: await listPeople(database, { by: 'owner_id', whom: 'viewer_id', personId }),
        sharedWithMe: await listPeople(database, { by: 'viewer_id', whom: 'owner_id', personId }),
      };
    },
    async share(caller, username) {
      const { personId } = requireSession(caller);
      await inTransaction(database, async (transaction) => {
        const viewerId = await findId(transaction, username);
        if (viewerId === undefined)
          throw new AppError('not_found', 'Expected the username of an account; there is none.');
        requireAnother(personId, viewerId);
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

function requireAnother(personId: string, viewerId: string): void {
  if (personId !== viewerId) return;
  throw new AppError('invalid_input', 'Expected the name of another; this one is yours.', { field: 'username' });
}

async function findId(database: Database, username: string): Promise<string | undefined> {
  const people = database.selectFrom('people').select('id').where('username_key', '=', toUsernameKey(username));
  return (await people.executeTakeFirst())?.id;
}

interface Side {
  readonly by: 'owner_id' | 'viewer_id';
  readonly whom: 'owner_id' | 'viewer_id';
  readonly personId: string;
}

async function listPeople(database: Database, { by, whom, personId }: Side): Promise<SharedUser[]> {
  const rows = await database
    .selectFrom('board_shares')
    .innerJoin('people', 'people.id', whom)
    .select(['username', 'display_name'])
    .where(by, '=', personId)
    .orderBy('username_key')
    .execute();
  return rows.map(({ username, display_name: displayName }) => ({ username, displayName }));
}
