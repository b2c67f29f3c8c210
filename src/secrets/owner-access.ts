import type { CreationOptions, RequestOptions } from '../accounts/passkey-options.js';
import type { PasskeyWitness } from '../accounts/passkey-witness.js';
import { requireAdminSession } from '../accounts/scopes.js';
import type { SignIn } from '../accounts/sign-in.js';
import { AppError } from '../errors.js';
import type { Database } from '../storage/database.js';
import type { Origin } from './actor.js';
import { auditPasskeys } from './audit-passkeys.js';
import { parsePublicKey } from './consumer-names.js';
import { storeOwnerKeys } from './owner-keys.js';
import type { Owner } from './owner.js';
import type { OwnerKeys } from './owner-keys.js';
import { readOwnerPasskey } from './owner-passkeys.js';
import type { AccountsWith, OwnerPasskey } from './owner-passkeys.js';

/** What the owner is called unless they say. */
const OWNER_NAME = 'owner';

export interface RegistrationStart {
  /** The secret of the setup link. */
  readonly setupToken?: string | undefined;
  readonly username?: string | undefined;
  readonly displayName?: string | undefined;
}

export interface RegistrationEnd extends OwnerKeys {
  /** As the browser answered, unchecked. */
  readonly credential: unknown;
  /** As registration began with it. */
  readonly username?: string | undefined;
  /** What the passkey is told by; `passkey` and its number when left out or empty. */
  readonly label?: string | undefined;
  /** The identity wrapped by this passkey. */
  readonly wrappedIdentity?: string | undefined;
}

export interface RegisteredPasskey {
  readonly passkey: OwnerPasskey;
  /** The secret that the cookie carries; `undefined` for whoever has a session. */
  readonly sessionId: string | undefined;
}

/** How the owner gets in: with the account and the passkeys that they have for the whole house. */
export interface OwnerAccess {
  /**
   * Begins the first account, for whoever has the setup link; once there is one,
   * another passkey of the owner.
   *
   * @throws AppError `forbidden` without a setup link that holds, `unauthenticated` for nobody once there is an account.
   */
  beginRegistration(origin: Origin, start: RegistrationStart): Promise<CreationOptions>;
  /**
   * Keeps the passkey, and what the browser made of the owner's identity, in one transaction.
   *
   * @throws AppError `invalid_input`, the one refusal of every ceremony, and for a public key that is none.
   */
  finishRegistration(origin: Origin, end: RegistrationEnd): Promise<RegisteredPasskey>;
  /** @throws AppError `invalid_input` while there is no account. */
  beginSignIn(): Promise<RequestOptions>;
  /** @returns the secret that the cookie carries. @throws AppError `unauthenticated` for anybody but the owner. */
  finishSignIn(credential: unknown, from: string): Promise<string>;
}

export interface OwnerAccessParts {
  readonly owner: Pick<Owner, 'exists'>;
  readonly signIn: SignIn;
  readonly accountsWith: AccountsWith;
}

export function createOwnerAccess(database: Database, { owner, signIn, accountsWith }: OwnerAccessParts): OwnerAccess {
  return {
    async beginRegistration({ caller }, { setupToken, username = OWNER_NAME, displayName = username }) {
      const { passkeys, registration } = accountsWith(auditPasskeys);
      if (caller !== undefined) return passkeys.begin(requireAdminSession(caller));
      await requireNoOwner(owner);
      return registration.begin({ username, displayName, inviteToken: setupToken });
    },
    async finishRegistration(origin, { credential, username = OWNER_NAME, label = '', ...kept }) {
      if (kept.publicKey) parsePublicKey(kept.publicKey);
      const { passkeys, registration } = accountsWith(keep(origin, kept));
      if (origin.caller !== undefined) {
        const added = { credential, label: label === '' ? undefined : label };
        const { id } = await passkeys.finish(requireAdminSession(origin.caller), added, origin.ip);
        return { passkey: await readOwnerPasskey(database, id), sessionId: undefined };
      }
      await requireNoOwner(owner);
      const answer = { credential, username, label: label === '' ? 'passkey 1' : label };
      const { passkeyId, sessionId } = await registration.finish(answer, origin.ip);
      return { passkey: await readOwnerPasskey(database, passkeyId), sessionId };
    },
    async beginSignIn() {
      if (await owner.exists()) return signIn.begin();
      throw new AppError('invalid_input', 'Expected an owner; nobody has registered yet.');
    },
    async finishSignIn(credential, from) {
      const { sessionId } = await signIn.finish({ credential, onlyAdmin: true }, from).catch(refuseSignIn);
      return sessionId;
    },
  };
}

/** In the transaction that keeps the passkey. */
function keep(
  { callerName }: Origin,
  { wrappedIdentity, ...keys }: Omit<RegistrationEnd, 'credential'>,
): PasskeyWitness {
  return async (transaction, change) => {
    await auditPasskeys(transaction, change, callerName);
    const { passkeyId, actor: caller, from: ip, at } = change;
    const wrapped = { wrapped_identity: wrappedIdentity ?? null };
    await transaction.updateTable('passkeys').set(wrapped).where('id', '=', passkeyId).execute();
    await storeOwnerKeys(transaction, keys, { caller, callerName, ip, at });
  };
}

async function requireNoOwner(owner: Pick<Owner, 'exists'>): Promise<void> {
  if (!(await owner.exists())) return;
  throw new AppError('unauthenticated', 'Expected the session of the owner.');
}

/** The accounts call it the caller's mistake, this contract a credential that does not hold. */
function refuseSignIn(error: unknown): never {
  if (!(error instanceof AppError) || error.code !== 'invalid_input') throw error;
  throw new AppError('unauthenticated', error.message, { cause: error });
}
