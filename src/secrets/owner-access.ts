import type { CreationOptions, RequestOptions } from '../accounts/passkey-options.js';
import type { PasskeyListener } from '../accounts/passkey-listener.js';
import { requireAdminSession } from '../accounts/scopes.js';
import type { SignIn } from '../accounts/sign-in.js';
import { AppError } from '../core/errors.js';
import type { Database } from '../storage/database.js';
import type { RequestOrigin } from './actor.js';
import { auditPasskeyChange } from './audit-passkey-change.js';
import { parsePublicKey } from './consumer-names.js';
import { saveOwnerKeys } from './owner-keys.js';
import type { SecretsOwner } from './owner.js';
import type { OwnerKeys } from './owner-keys.js';
import { readOwnerPasskey } from './owner-passkeys.js';
import type { AccountsFactory, OwnerPasskey } from './owner-passkeys.js';

/** The default username of the owner. */
const OWNER_NAME = 'owner';

export interface BeginOwnerRegistrationRequest {
  /** The secret of the setup link. */
  readonly setupToken?: string | undefined;
  readonly username?: string | undefined;
  readonly displayName?: string | undefined;
}

export interface FinishOwnerRegistrationRequest extends OwnerKeys {
  /** The response of the browser, not yet validated. */
  readonly credential: unknown;
  /** The same username as at the start of the registration. */
  readonly username?: string | undefined;
  /** The name of the passkey; `passkey` and its number when absent or empty. */
  readonly label?: string | undefined;
  /** The identity wrapped by this passkey. */
  readonly wrappedIdentity?: string | undefined;
}

export interface RegisteredPasskey {
  readonly passkey: OwnerPasskey;
  /** The secret for the session cookie; `undefined` when the caller already has a session. */
  readonly sessionId: string | undefined;
}

/** Registration and sign-in of the owner, with the account and the passkeys that all services share. */
export interface OwnerAccess {
  /**
   * Starts the registration of the owner with the setup link or, once an owner exists, of an additional passkey.
   *
   * @throws AppError `forbidden` without a valid setup link; `unauthenticated` without a session once an owner exists.
   */
  beginRegistration(origin: RequestOrigin, start: BeginOwnerRegistrationRequest): Promise<CreationOptions>;
  /**
   * Stores the passkey, the public key and the wrapped copies of the identity in one transaction.
   *
   * @throws AppError `invalid_input` for a failed passkey verification, and for an invalid public key.
   */
  finishRegistration(origin: RequestOrigin, end: FinishOwnerRegistrationRequest): Promise<RegisteredPasskey>;
  /** @throws AppError `invalid_input` while the server has no owner. */
  beginSignIn(): Promise<RequestOptions>;
  /** @returns The secret for the session cookie. @throws AppError `unauthenticated` for other users. */
  finishSignIn(credential: unknown, from: string): Promise<string>;
}

export interface OwnerAccessDependencies {
  readonly owner: Pick<SecretsOwner, 'exists'>;
  readonly signIn: SignIn;
  readonly accountsFactory: AccountsFactory;
}

export function createOwnerAccess(
  database: Database,
  { owner, signIn, accountsFactory }: OwnerAccessDependencies,
): OwnerAccess {
  return {
    async beginRegistration({ caller }, { setupToken, username = OWNER_NAME, displayName = username }) {
      const { passkeys, registration } = accountsFactory(auditPasskeyChange);
      if (caller !== undefined) return passkeys.begin(requireAdminSession(caller));
      await assertNoOwner(owner);
      return registration.begin({ username, displayName, inviteToken: setupToken });
    },
    async finishRegistration(origin, { credential, username = OWNER_NAME, label = '', ...keys }) {
      if (keys.publicKey) parsePublicKey(keys.publicKey);
      const { passkeys, registration } = accountsFactory(saveKeys(origin, keys));
      if (origin.caller !== undefined) {
        const added = { credential, label: label === '' ? undefined : label };
        const { id } = await passkeys.finish(requireAdminSession(origin.caller), added, origin.ip);
        return { passkey: await readOwnerPasskey(database, id), sessionId: undefined };
      }
      await assertNoOwner(owner);
      const response = { credential, username, label: label === '' ? 'passkey 1' : label };
      const { passkeyId, sessionId } = await registration.finish(response, origin.ip);
      return { passkey: await readOwnerPasskey(database, passkeyId), sessionId };
    },
    async beginSignIn() {
      if (await owner.exists()) return signIn.begin();
      throw new AppError('invalid_input', 'The server has no owner yet. Open the setup link first.');
    },
    async finishSignIn(credential, from) {
      const { sessionId } = await signIn.finish({ credential, onlyAdmin: true }, from).catch(throwSignInError);
      return sessionId;
    },
  };
}

/** Returns a listener that records the new passkey and stores the keys in the transaction of the passkey. */
function saveKeys(
  { callerName }: RequestOrigin,
  { wrappedIdentity, ...keys }: Omit<FinishOwnerRegistrationRequest, 'credential'>,
): PasskeyListener {
  return async (transaction, change) => {
    await auditPasskeyChange(transaction, change, callerName);
    const { passkeyId, actor: caller, from: ip, at } = change;
    const wrapped = { wrapped_identity: wrappedIdentity ?? null };
    await transaction.updateTable('passkeys').set(wrapped).where('id', '=', passkeyId).execute();
    await saveOwnerKeys(transaction, keys, { caller, callerName, ip, at });
  };
}

async function assertNoOwner(owner: Pick<SecretsOwner, 'exists'>): Promise<void> {
  if (!(await owner.exists())) return;
  throw new AppError('unauthenticated', 'This operation requires the session of the owner.');
}

/** Maps a failed passkey verification to the code of this contract: a missing credential, not an invalid input. */
function throwSignInError(error: unknown): never {
  if (!(error instanceof AppError) || error.code !== 'invalid_input') throw error;
  throw new AppError('unauthenticated', error.message, { cause: error });
}
