import { inTransaction } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import { insertInvitation } from './invitations.js';

export interface SetupLink {
  /**
   * Creates the link for the first account, valid once and for an hour. It replaces an earlier link.
   *
   * @returns the secret of the link, which is not stored; `undefined` once an account exists.
   */
  create(): Promise<string | undefined>;
}

export function createSetupLink(database: Database, now: () => number = Date.now): SetupLink {
  return {
    create: () =>
      inTransaction(database, async (transaction) => {
        if (!(await hasNoUsers(transaction))) return undefined;
        await transaction.deleteFrom('invitations').where('username_key', 'is', null).execute();
        return (await insertInvitation(transaction, now())).token;
      }),
  };
}

/** Returns whether no account exists yet. */
export async function hasNoUsers(database: Database): Promise<boolean> {
  return (await database.selectFrom('people').select('id').limit(1).executeTakeFirst()) === undefined;
}
