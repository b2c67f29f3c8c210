import { AppError } from '@trellis/core/errors';
import type { Accounts } from '../accounts/accounts.js';
import type { ServiceTokens } from '../accounts/bearer-tokens.js';
import { requireAdminSession } from '../accounts/callers.js';
import type { CreationOptions, RequestOptions } from '../accounts/ceremony.js';
import type { PasskeyListener } from '../accounts/events.js';
import type { Passkey } from '../accounts/passkeys.js';
import type { FinishSignInRequest, SignIn } from '../accounts/sign-in.js';
import type { Database } from '../storage/database.js';
import type { PasskeysTable } from '../storage/tables.js';
import { parsePublicKey } from './age-format.js';
import { auditPasskeyChange, type RequestOrigin } from './audit/chain.js';
import type { DenialLog } from './audit/denials.js';
import { createDeviceLogins, createOwnTokens, type DeviceLogins, type OwnTokens } from './device-logins.js';
import { type OwnerKeys, saveOwnerKeys, type SecretsOwner } from './owner.js';
import { createServiceTokenManager, type ServiceTokenManager } from './service-tokens.js';
import { createWorkloadTokens, type WorkloadTokens } from './workload/exchange.js';
import { createIssuerKeys, type IssuerAgent } from './workload/issuer-keys.js';
import { createWorkloadRules, type WorkloadRules } from './workload/rules.js';

/** The credentials of the secrets service: the owner's sign-in and passkeys, write tokens and consumer tokens. */
export interface SecretsAccess {
  readonly ownerAccess: OwnerAccess;
  readonly ownerPasskeys: OwnerPasskeys;
  readonly writeTokens: ServiceTokenManager;
  readonly consumerTokens: ServiceTokenManager;
  readonly workloadRules: WorkloadRules;
  readonly workloadTokens: WorkloadTokens;
  readonly deviceLogins: DeviceLogins;
  readonly ownTokens: OwnTokens;
}

interface SecretsAccessDependencies {
  readonly owner: SecretsOwner;
  readonly signIn: SignIn;
  readonly accountsFactory: AccountsFactory;
  readonly store: ServiceTokens;
  /** Returns the public origin, which is known once the server listens. */
  readonly origin: () => string;
  /** Returns the key by which the requests of an address are counted. */
  readonly toAddressKey: (address: string) => string;
  /** Makes the connections to issuers of workload tokens. */
  readonly issuerAgent: IssuerAgent;
  readonly denials: Pick<DenialLog, 'record'>;
}

export function createSecretsAccess(
  database: Database,
  { store, issuerAgent, denials, origin, toAddressKey, ...parts }: SecretsAccessDependencies,
): SecretsAccess {
  return {
    ownerAccess: createOwnerAccess(database, parts),
    ownerPasskeys: createOwnerPasskeys(database, parts.accountsFactory),
    writeTokens: createServiceTokenManager(database, { kind: 'write', store }),
    consumerTokens: createServiceTokenManager(database, { kind: 'consumer', store }),
    workloadRules: createWorkloadRules(database),
    workloadTokens: createWorkloadTokens(database, { store, findKeys: createIssuerKeys(issuerAgent), denials }),
    deviceLogins: createDeviceLogins(database, { store, signIn: parts.signIn, origin, toAddressKey }),
    ownTokens: createOwnTokens(database, store),
  };
}

/** The default username of the owner. */
const OWNER_NAME = 'owner';

interface BeginOwnerRegistrationRequest {
  /** The secret of the setup link. */
  readonly setupToken?: string;
  readonly username?: string;
  readonly displayName?: string;
}

interface FinishOwnerRegistrationRequest extends OwnerKeys {
  /** The response of the browser, not yet validated. */
  readonly credential: unknown;
  /** The same username as at the start of the registration. */
  readonly username?: string;
  /** The name of the passkey; `passkey` and its number when absent or empty. */
  readonly label?: string;
  /** The identity wrapped by this passkey. */
  readonly wrappedIdentity?: string;
  /** The `User-Agent` of the browser, of which the session stores a coarse name. */
  readonly userAgent?: string;
}

interface RegisteredPasskey {
  readonly passkey: OwnerPasskey;
  /** The secret for the session cookie; `undefined` when the caller already has a session. */
  readonly sessionId: string | undefined;
}

/** Registration and sign-in of the owner, with the account and the passkeys that all services share. */
interface OwnerAccess {
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
  finishSignIn(answer: Pick<FinishSignInRequest, 'before' | 'credential' | 'userAgent'>, from: string): Promise<string>;
}

interface OwnerAccessDependencies {
  readonly owner: Pick<SecretsOwner, 'exists'>;
  readonly signIn: SignIn;
  readonly accountsFactory: AccountsFactory;
}

function createOwnerAccess(
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
    async finishRegistration(origin, { credential, username = OWNER_NAME, label = '', userAgent, ...keys }) {
      if (keys.publicKey) parsePublicKey(keys.publicKey);
      const { passkeys, registration } = accountsFactory(saveKeys(origin, keys));
      if (origin.caller !== undefined) {
        const added = { credential, label: label === '' ? undefined : label };
        const { id } = await passkeys.finish(requireAdminSession(origin.caller), added, origin.ip);
        return { passkey: await readOwnerPasskey(database, id), sessionId: undefined };
      }
      await assertNoOwner(owner);
      const response = { credential, username, label: label === '' ? 'passkey 1' : label, userAgent };
      const { passkeyId, sessionId } = await registration.finish(response, origin.ip);
      return { passkey: await readOwnerPasskey(database, passkeyId), sessionId };
    },
    async beginSignIn() {
      if (await owner.exists()) return signIn.begin();
      throw new AppError('invalid_input', 'The server has no owner yet. Open the setup link first.');
    },
    async finishSignIn(answer, from) {
      const { sessionId } = await signIn.finish({ ...answer, onlyAdmin: true }, from).catch(throwSignInError);
      return sessionId;
    },
  };
}

/** Returns a listener that records the new passkey and stores the keys in the transaction of the passkey. */
function saveKeys(
  { callerName }: RequestOrigin,
  { wrappedIdentity, ...keys }: Omit<FinishOwnerRegistrationRequest, 'credential' | 'userAgent'>,
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

/** Creates account services that pass every change of a passkey to a listener, in the transaction of the change. */
type AccountsFactory = (witness: PasskeyListener) => Pick<Accounts, 'passkeys' | 'registration'>;

/** A passkey of the owner, with its copy of the identity. */
export interface OwnerPasskey extends Passkey {
  /** The owner's identity, wrapped by this passkey; opaque to the server. */
  readonly wrappedIdentity: string | undefined;
}

interface OwnerPasskeyPage {
  readonly passkeys: readonly OwnerPasskey[];
  /** The number of passkeys on all pages. */
  readonly total: number;
  /** The offset of the next page; `undefined` on the last one. */
  readonly next: number | undefined;
}

/** The owner's passkeys. All methods require the owner's session and throw `session_required` for a token. */
interface OwnerPasskeys {
  /** Returns the passkeys oldest first. */
  list(origin: RequestOrigin, page: { readonly limit?: number; readonly offset?: number }): Promise<OwnerPasskeyPage>;
  /** @throws AppError `not_found` for an unknown id, `invalid_input` for an invalid label. */
  rename(origin: RequestOrigin, passkey: Pick<Passkey, 'id' | 'label'>): Promise<OwnerPasskey>;
  /** Removes a passkey; ignores an unknown id. @throws AppError `conflict` for the last passkey. */
  remove(origin: RequestOrigin, id: string): Promise<void>;
}

const DEFAULT_LIMIT = 50;

function createOwnerPasskeys(database: Database, accountsWith: AccountsFactory): OwnerPasskeys {
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

async function readOwnerPasskey(database: Database, id: string): Promise<OwnerPasskey> {
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
