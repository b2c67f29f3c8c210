import type { Accounts } from '../accounts/accounts.js';
import type { PasskeyWitness } from '../accounts/passkey-witness.js';
import type { Passkey } from '../accounts/passkeys.js';
import { requireAdminSession } from '../accounts/scopes.js';
import { AppError } from '../errors.js';
import type { Database } from '../storage/database.js';
import type { PasskeysTable } from '../storage/tables.js';
import type { Origin } from './actor.js';
import { auditPasskeys } from './audit-passkeys.js';

/** The house's accounts, which tell a witness of every change to a passkey, in the transaction of the change. */
export type AccountsWith = (witness: PasskeyWitness) => Pick<Accounts, 'passkeys' | 'registration'>;

/** A passkey of the owner, and what it keeps for their browser. */
export interface OwnerPasskey extends Passkey {
  /** The owner's identity wrapped by this passkey; opaque to the server. */
  readonly wrappedIdentity: string | undefined;
}

export interface PasskeyPage {
  readonly passkeys: readonly OwnerPasskey[];
  /** How many there are, over all pages. */
  readonly total: number;
  /** The offset of the next page; `undefined` on the last. */
  readonly next: number | undefined;
}

/** The owner's passkeys, for their session alone: `session_required` for a token. */
export interface OwnerPasskeys {
  /** Oldest first. */
  list(origin: Origin, page: { readonly limit?: number; readonly offset?: number }): Promise<PasskeyPage>;
  /** @throws AppError `not_found` for an unknown id, `invalid_input` for a label that is none. */
  rename(origin: Origin, passkey: Pick<Passkey, 'id' | 'label'>): Promise<OwnerPasskey>;
  /** Does nothing for an unknown id. @throws AppError `conflict` for the last one. */
  remove(origin: Origin, id: string): Promise<void>;
}

const DEFAULT_LIMIT = 50;

export function createOwnerPasskeys(database: Database, accountsWith: AccountsWith): OwnerPasskeys {
  const audited = ({ callerName }: Origin) =>
    accountsWith((transaction, change) => auditPasskeys(transaction, change, callerName)).passkeys;
  return {
    async list({ caller }, { limit = DEFAULT_LIMIT, offset = 0 }) {
      const { personId } = requireAdminSession(caller);
      const own = database.selectFrom('passkeys').selectAll().where('person_id', '=', personId);
      // At most 20, which the accounts see to.
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
      await audited(origin).remove(origin.caller, id, origin.ip).catch(refuseLast);
    },
  };
}

/** The accounts call it the caller's mistake, this contract the state of things. */
function refuseLast(error: unknown): never {
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
