import type { Caller } from '../accounts/callers.js';
import { requireOwner } from '../accounts/scopes.js';
import type { Database } from '../storage/database.js';

/** The one person whom the secrets belong to. */
export interface Owner {
  /** Whether anybody has registered. */
  exists(): Promise<boolean>;
  /** The owner's age recipient; `undefined` until it is set. */
  findPublicKey(caller: Caller | undefined): Promise<string | undefined>;
  /** Keeps the key of the first registration; a later one changes nothing. */
  setPublicKey(publicKey: string): Promise<void>;
}

export function createOwner(database: Database): Owner {
  return {
    async exists() {
      const admin = await database
        .selectFrom('people')
        .select('id')
        .where('is_admin', '=', 1)
        .limit(1)
        .executeTakeFirst();
      return admin !== undefined;
    },
    async findPublicKey(caller) {
      requireOwner(caller);
      const row = await database.selectFrom('secret_owner').select('public_key').executeTakeFirst();
      return row?.public_key;
    },
    async setPublicKey(publicKey) {
      await database
        .insertInto('secret_owner')
        .values({ id: 1, public_key: publicKey })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },
  };
}
