import type { Caller } from '../accounts/callers.js';
import { requireOwner } from '../accounts/scopes.js';
import type { Database } from '../storage/database.js';
import type { Origin } from './actor.js';
import { keepIdentity } from './keep-identity.js';
import type { NewIdentity } from './keep-identity.js';
import { findOwnerRow } from './owner-keys.js';
import type { OwnerKeys } from './owner-keys.js';

/** What is known of the owner's identity. */
export interface OwnerIdentity extends OwnerKeys {
  /** The ids of the passkeys that hold a copy, oldest first. */
  readonly wrappedBy: readonly string[];
}

/** The one person whom the secrets belong to. */
export interface Owner {
  /** Whether anybody has registered. */
  exists(): Promise<boolean>;
  /** All but the public key is for a session alone. */
  readIdentity(caller: Caller | undefined): Promise<OwnerIdentity>;
  /** The owner's age recipient; `undefined` until it is set. */
  findPublicKey(caller: Caller | undefined): Promise<string | undefined>;
  /**
   * Keeps the owner's public key and copies of the identity, all of it or
   * nothing. The first public key and the first recovery copy stay; of a
   * passkey, the last copy does.
   *
   * @throws AppError `session_required` for a token, `invalid_input` for a public key that is none and
   * for half a copy, `conflict` for another public key than the first, `not_found` for a passkey that is not theirs.
   */
  keepIdentity(origin: Origin, identity: NewIdentity): Promise<OwnerIdentity>;
}

export function createOwner(database: Database): Owner {
  return {
    async exists() {
      const admins = database.selectFrom('people').select('id').where('is_admin', '=', 1).limit(1);
      return (await admins.executeTakeFirst()) !== undefined;
    },
    readIdentity: (caller) => readIdentity(database, caller),
    async findPublicKey(caller) {
      requireOwner(caller);
      return (await findOwnerRow(database))?.public_key;
    },
    async keepIdentity(origin, identity) {
      await keepIdentity(database, origin, identity);
      return readIdentity(database, origin.caller);
    },
  };
}

async function readIdentity(database: Database, caller: Caller | undefined): Promise<OwnerIdentity> {
  const { kind, personId } = requireOwner(caller);
  const row = await findOwnerRow(database);
  if (kind !== 'session') return { publicKey: row?.public_key, wrappedBy: [] };
  const recovery = row?.recovery_wrapped_identity ?? undefined;
  const wrappedBy = await listWrapping(database, personId);
  return { publicKey: row?.public_key, recoveryWrappedIdentity: recovery, wrappedBy };
}

/** The ids of a person's passkeys that hold a copy of the identity. */
async function listWrapping(database: Database, personId: string): Promise<readonly string[]> {
  const own = database.selectFrom('passkeys').select('id').where('person_id', '=', personId);
  const rows = await own.where('wrapped_identity', 'is not', null).orderBy('created_at').orderBy('id').execute();
  return rows.map(({ id }) => id);
}
