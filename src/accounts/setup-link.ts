import { inTransaction } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import { addLink } from './invitations.js';

export interface SetupLink {
  /**
   * Makes the link for the first account, which holds once, for an hour, and
   * takes the place of one made before.
   *
   * @returns the secret of the link, which is not kept; `undefined` once there is an account.
   */
  create(): Promise<string | undefined>;
}

export function createSetupLink(database: Database, now: () => number = Date.now): SetupLink {
  return {
    create: () =>
      inTransaction(database, async (transaction) => {
        if (!(await isUnclaimed(transaction))) return undefined;
        await transaction.deleteFrom('invitations').where('username_key', 'is', null).execute();
        return (await addLink(transaction, now())).token;
      }),
  };
}

/** Whether nobody has an account yet. */
export async function isUnclaimed(database: Database): Promise<boolean> {
  return (await database.selectFrom('people').select('id').limit(1).executeTakeFirst()) === undefined;
}
