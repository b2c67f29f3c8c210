import type { Accounts } from '../accounts/accounts.js';
import type { PasskeyListener } from '../accounts/passkey-listener.js';
import type { Passkey } from '../accounts/passkeys.js';
import { requireAdminSession } from '../accounts/scopes.js';
import { AppError } from '../core/errors.js';
import type { Database } from '../storage/database.js';
import type { PasskeysTable } from '../storage/tables.js';
import type { RequestOrigin } from './actor.js';
import { auditPasskeyChange } from './audit-passkey-change.js';

/** Creates account services that pass every change of a passkey to a listener, in the transaction of the change. */
export type AccountsFactory = (witness: PasskeyListener) => Pick<Accounts, 'passkeys' | 'registration'>;

/** A passkey of the owner, with its copy of the identity. */
export interface OwnerPasskey extends Passkey {
  /** The owner's identity, wrapped by this passkey; opaque to the server. */
  readonly wrappedIdentity: string | undefined;
}

export interface OwnerPasskeyPage {
  readonly passkeys: readonly OwnerPasskey[];
  /** The number of passkeys on all pages. */
  readonly total: number;
  /** The offset of the next page; `undefined` on the last one. */
  readonly next: number | undefined;
}

/** The owner's passkeys. All methods require the owner's session and throw `session_required` for a token. */
export interface OwnerPasskeys {
  /** Returns the passkeys oldest first. */
  list(origin: RequestOrigin, page: { readonly limit?: number; readonly offset?: number }): Promise<OwnerPasskeyPage>;
  /** @throws AppError `not_found` for an unknown id, `invalid_input` for an invalid label. */
  rename(origin: RequestOrigin, passkey: Pick<Passkey, 'id' | 'label'>): Promise<OwnerPasskey>;
  /** Removes a passkey; ignores an unknown id. @throws AppError `conflict` for the last passkey. */
  remove(origin: RequestOrigin, id: string): Promise<void>;
}

const DEFAULT_LIMIT = 50;

export function createOwnerPasskeys(database: Database, accountsWith: AccountsFactory): OwnerPasskeys {
  const audited = ({ callerName }: RequestOrigin) =>
    accountsWith((transaction, change) => auditPasskeyChange(transaction, change, callerName)).passkeys;
  return {
    async list({ caller }, { limit = DEFAULT_LIMIT, offset = 0 }) {
      const { personId } = requireAdminSession(caller);
      const own = database.selectFrom('passkeys').selectAll().where('person_id', '=', personId);
      // All passkeys are read, as an account has at most 20.
      const rows = await own.orderBy('created_at').orderBy('id').execute();
      const next = offset + limit < rows.length ? offset + limit : undefined;
      return { passkeys: rows.slice(offset, offset + limit).map(toOwnerPasskey), total: rows.length, next };
    },
    async rename(origin, passkey) {
      requireAdminSession(origin.caller);
      await audited(origin).rename(origin.caller, passkey, origin.ip);
      return readOwnerPasskey(database, passkey.id);
    },
    async remove(origin, id) {
      requireAdminSession(origin.caller);
      await audited(origin).remove(origin.caller, id, origin.ip).catch(throwRemovalError);
    },
  };
}

/** Maps the error for the last passkey to the code of this contract: a conflict, not an invalid input. */
function throwRemovalError(error: unknown): never {
  if (!(error instanceof AppError) || error.code !== 'invalid_input') throw error;
  throw new AppError('conflict', error.message, { cause: error });
}

export async function readOwnerPasskey(database: Database, id: string): Promise<OwnerPasskey> {
  const row = database.selectFrom('passkeys').selectAll().where('id', '=', id);
  return toOwnerPasskey(await row.executeTakeFirstOrThrow());
}

function toOwnerPasskey({ id, label, created_at, last_used_at, wrapped_identity }: PasskeysTable): OwnerPasskey {
  return {
    id,
    label,
    createdAt: new Date(created_at),
    lastUsedAt: last_used_at === null ? undefined : new Date(last_used_at),
    wrappedIdentity: wrapped_identity ?? undefined,
  };
}
