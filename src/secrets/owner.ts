import type { Caller } from '../accounts/callers.js';
import { requireOwner } from '../accounts/scopes.js';
import type { Database } from '../storage/database.js';
import type { RequestOrigin } from './actor.js';
import { saveIdentity } from './save-identity.js';
import type { NewIdentity } from './save-identity.js';
import { findOwnerRow } from './owner-keys.js';
import type { OwnerKeys } from './owner-keys.js';

/** The owner's public key and the copies of their identity. */
export interface OwnerIdentity extends OwnerKeys {
  /** The ids of the passkeys that have a copy, oldest first. */
  readonly wrappedBy: readonly string[];
}

/** The owner of the secrets: the user who manages all of them. */
export interface SecretsOwner {
  /** Reports whether the owner has registered. */
  exists(): Promise<boolean>;
  /** Returns the identity; without a session, only its public key. */
  readIdentity(caller: Caller | undefined): Promise<OwnerIdentity>;
  /** Returns the owner's age recipient; `undefined` until it is stored. */
  findPublicKey(caller: Caller | undefined): Promise<string | undefined>;
  /**
   * Saves the owner's public key and copies of the identity in one transaction. The first public key and the first
   * recovery copy are never replaced; a later copy of the same passkey replaces the previous one.
   *
   * @throws AppError `session_required` for a token; `invalid_input` for an invalid public key, and for a copy without
   * its passkey or the reverse; `conflict` for a different public key; `not_found` for an unknown passkey.
   */
  saveIdentity(origin: RequestOrigin, identity: NewIdentity): Promise<OwnerIdentity>;
}

export function createSecretsOwner(database: Database): SecretsOwner {
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
    async saveIdentity(origin, identity) {
      await saveIdentity(database, origin, identity);
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

/** Returns the ids of a user's passkeys that have a copy of the identity. */
async function listWrapping(database: Database, personId: string): Promise<readonly string[]> {
  const own = database.selectFrom('passkeys').select('id').where('person_id', '=', personId);
  const rows = await own.where('wrapped_identity', 'is not', null).orderBy('created_at').orderBy('id').execute();
  return rows.map(({ id }) => id);
}
