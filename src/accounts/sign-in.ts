import { hash, randomBytes } from 'node:crypto';
import { AppError } from '@trellis/core/errors';
import { type Database, inTransaction } from '../storage/database.js';
import { type PasskeysTable, toUsernameKey, type ChallengesTable, type InvitationsTable } from '../storage/tables.js';
import { startSession } from './authentication.js';
import type { Caller, SessionCaller } from './callers.js';
import {
  assertUserVerified,
  ceremonyError,
  consumeChallenge,
  createChallenge,
  readChallenge,
  readCredentialId,
  type RelyingParty,
  type RequestOptions,
  toRequestOptions,
  verifyPasskey,
  type CreationOptions,
  toCreationOptions,
  verifyNewPasskey,
} from './ceremony.js';
import { recordEvent } from './events.js';
import { assertUsernameAvailable, hasNoUsers } from './invitations.js';
import { insertPasskey, type PasskeyDependencies } from './passkeys.js';
import {
  toUser,
  findUserRow,
  insertUser,
  type NewUser,
  parseDisplayName,
  parseLabel,
  parseUsername,
  type User,
} from './users.js';

export interface FinishSignInRequest {
  /** The username that the passkey must belong to; by default any. */
  readonly username?: string;
  /** Whether only the admin can sign in. */
  readonly onlyAdmin?: boolean;
  /** The unverified credential from the browser. */
  readonly credential: unknown;
  /** The `User-Agent` of the browser, of which the session stores a coarse name. */
  readonly userAgent?: string;
  /** The session of the browser, which the new one ends. */
  readonly before?: Caller;
}

export interface SignIn {
  /** Requests any passkey for this site. It uses no username, so neither content nor timing reveal an account. */
  begin(): Promise<RequestOptions>;
  /** Signs a user in. @throws AppError `invalid_input` for a failed ceremony. */
  finish(answer: FinishSignInRequest, from: string): Promise<SignInResult>;
  /**
   * Verifies that the user of a session has used a passkey for one sensitive operation, whose challenge `begin` created.
   *
   * @throws AppError `invalid_input` for a failed ceremony, and for a passkey of a different user.
   */
  confirm(caller: SessionCaller, credential: unknown): Promise<void>;
}

interface VerifiedPasskey {
  readonly passkey: PasskeysTable;
  readonly counter: number;
  readonly isUserVerified: boolean;
}

export function createSignIn(
  database: Database,
  relyingParty: () => RelyingParty,
  now: () => number = Date.now,
): SignIn {
  /** Verifies the response to a challenge, which is used up then. */
  async function verify(credential: unknown): Promise<VerifiedPasskey> {
    const challenge = readChallenge(credential);
    const begun = await consumeChallenge(database, challenge, { ceremony: 'sign_in', at: now() });
    const passkeys = database.selectFrom('passkeys').selectAll();
    const passkey = await passkeys.where('id', '=', readCredentialId(credential)).executeTakeFirst();
    if (begun === undefined || passkey === undefined) throw ceremonyError();
    return { passkey, ...(await verifyPasskey(credential, passkey, { challenge, relyingParty: relyingParty() })) };
  }
  return {
    async begin() {
      const challenge = await createChallenge(database, { ceremony: 'sign_in', at: now() });
      return toRequestOptions(relyingParty(), challenge);
    },
    async finish({ username, onlyAdmin = false, credential, userAgent, before }, from) {
      const { passkey, counter, isUserVerified } = await verify(credential);
      return inTransaction(database, async (transaction) => {
        const at = now();
        await updateCounter(transaction, passkey, { counter, last_used_at: at });
        const row = await transaction
          .selectFrom('people')
          .selectAll()
          .where('id', '=', passkey.person_id)
          .executeTakeFirst();
        if (row === undefined || !isExpected(row.username_key, username)) throw ceremonyError();
        const user = toUser(row);
        if (onlyAdmin && !user.isAdmin) throw ceremonyError();
        assertUserVerified(user, isUserVerified);
        const actor = { kind: 'session', personId: user.id } as const;
        const event = { actor, personId: user.id, subject: passkey.id, from, at };
        await recordEvent(transaction, { action: 'signed_in', ...event });
        return { user, sessionId: await startSession(transaction, { personId: user.id, userAgent, before, at }) };
      });
    },
    async confirm({ personId, isAdmin }, credential) {
      const { passkey, counter, isUserVerified } = await verify(credential);
      if (passkey.person_id !== personId) throw ceremonyError();
      assertUserVerified({ isAdmin }, isUserVerified);
      await updateCounter(database, passkey, { counter, last_used_at: now() });
    },
  };
}

/**
 * Stores the counter of a passkey. Fails if a concurrent sign-in used the same counter, or if the passkey was removed in
 * the meantime.
 */
async function updateCounter(
  transaction: Database,
  { id, counter: before }: { readonly id: string; readonly counter: number },
  used: { readonly counter: number; readonly last_used_at: number },
): Promise<void> {
  const own = transaction.updateTable('passkeys').set(used).where('id', '=', id).where('counter', '=', before);
  if ((await own.executeTakeFirst()).numUpdatedRows === 0n) throw ceremonyError();
}

function isExpected(usernameKey: string, username: string | undefined): boolean {
  return username === undefined || toUsernameKey(username.trim()) === usernameKey;
}

export interface SignInResult {
  readonly user: User;
  /** The secret that the cookie carries. */
  readonly sessionId: string;
}

interface RegistrationRequest extends NewUser {
  /** The secret of a setup link or of an invitation. */
  readonly inviteToken?: string;
}

export interface Registration {
  /** Returns whether no account exists yet, so that the setup link can create the first one. */
  isOpen(): Promise<boolean>;
  /**
   * Starts registering an account. Only the challenge is stored, so an abandoned registration doesn't reserve the
   * username.
   *
   * @throws AppError `forbidden` without a valid link for this username, whether or not it is taken; `conflict` when the
   * link is valid and the username is taken.
   */
  begin(request: RegistrationRequest): Promise<CreationOptions>;
  /**
   * Creates the account with its first passkey, signs it in, and uses up the link.
   *
   * @throws AppError `invalid_input` for a failed ceremony, `conflict` when another link for the same username was used
   * first.
   */
  finish(answer: FinishRegistrationRequest, from: string): Promise<RegistrationResult>;
}

interface RegistrationResult extends SignInResult {
  readonly passkeyId: string;
}

interface FinishRegistrationRequest {
  readonly username: string;
  /** The unverified credential from the browser. */
  readonly credential: unknown;
  /** The name of the passkey. */
  readonly label?: string;
  /** The `User-Agent` of the browser, of which the session stores a coarse name. */
  readonly userAgent?: string;
  /** The session of the browser, which the new one ends. */
  readonly before?: Caller;
}

export function createRegistration(
  database: Database,
  { relyingParty, passkeyListener, now }: PasskeyDependencies,
): Registration {
  return {
    isOpen: () => hasNoUsers(database),
    async begin({ inviteToken = '', ...requested }) {
      const name = parseUsername(requested.username);
      const link = await getLink(database, { inviteToken, username: name, at: now() });
      // Usernames are case-insensitive; the invitation determines the spelling.
      const username = link.username ?? name;
      const displayName = link.display_name ?? parseDisplayName(requested.displayName);
      await assertUsernameAvailable(database, username);
      const userHandle = randomBytes(32).toString('base64url');
      const state = {
        invitation_id: link.id,
        username,
        display_name: displayName,
        user_handle: userHandle,
        at: now(),
      };
      const challenge = await createChallenge(database, { ceremony: 'register', ...state });
      const requiresVerification =
        link.username_key === null || (await findUserRow(database, username))?.is_admin === 1;
      return toCreationOptions(relyingParty(), { username, displayName, userHandle, challenge, requiresVerification });
    },
    async finish({ username, credential, label = 'First passkey', userAgent, before }, from) {
      const name = parseLabel(label);
      const challenge = readChallenge(credential);
      const begun = await consumeChallenge(database, challenge, { ceremony: 'register', at: now() });
      const account = begun && toAccount(begun);
      if (!account || toUsernameKey(account.username) !== toUsernameKey(username.trim())) throw ceremonyError();
      const { passkey, isUserVerified } = await verifyNewPasskey(credential, {
        challenge,
        relyingParty: relyingParty(),
      });
      return inTransaction(database, async (transaction) => {
        const at = now();
        const user = await findOrAddPerson(transaction, account, at);
        assertUserVerified(user, isUserVerified);
        const own = { person_id: user.id, user_handle: account.userHandle, label: name, created_at: at };
        await insertPasskey(transaction, { ...passkey, ...own });
        const actor = { kind: 'session', personId: user.id } as const;
        const event = { actor, personId: user.id, subject: user.username, from, at };
        await recordEvent(transaction, { action: 'account_created', ...event });
        await passkeyListener(transaction, {
          action: 'create',
          passkeyId: passkey.id,
          actor,
          personId: user.id,
          from,
          at,
        });
        const sessionId = await startSession(transaction, { personId: user.id, userAgent, before, at });
        return { user, passkeyId: passkey.id, sessionId };
      });
    },
  };
}

/** An account whose registration was started. */
interface PendingAccount extends NewUser {
  readonly invitationId: string;
  readonly userHandle: string;
}

function toAccount({
  invitation_id,
  username,
  display_name,
  user_handle,
}: ChallengesTable): PendingAccount | undefined {
  if (invitation_id === null || username === null || display_name === null || user_handle === null) return undefined;
  return { invitationId: invitation_id, username, displayName: display_name, userHandle: user_handle };
}

interface LinkUse {
  readonly inviteToken: string;
  readonly username: string;
  readonly at: number;
}

async function getLink(database: Database, { inviteToken, username, at }: LinkUse): Promise<InvitationsTable> {
  const links = database.selectFrom('invitations').selectAll().where('expires_at', '>', at);
  const link = await links.where('hash', '=', hash('sha256', inviteToken)).executeTakeFirst();
  const isSetup = link?.username_key === null;
  const isValid = isSetup ? await hasNoUsers(database) : link?.username_key === toUsernameKey(username);
  if (link !== undefined && isValid) return link;
  const message = 'No valid setup link or invitation for this username. It may have expired. Ask for a new one.';
  throw new AppError('forbidden', message);
}

/**
 * Uses up the link, and all other links for the same username. A user whose access was revoked gets the existing account
 * with its data.
 */
async function findOrAddPerson(transaction: Database, account: PendingAccount, at: number): Promise<User> {
  const { invitationId, username, displayName } = account;
  const used = await transaction
    .deleteFrom('invitations')
    .where('id', '=', invitationId)
    .where('expires_at', '>', at)
    .returning('username_key')
    .executeTakeFirst();
  if (used === undefined || (used.username_key === null && !(await hasNoUsers(transaction)))) throw ceremonyError();
  await transaction
    .deleteFrom('invitations')
    .where((row) => row.or([row('username_key', '=', toUsernameKey(username)), row('username_key', 'is', null)]))
    .execute();
  await assertUsernameAvailable(transaction, username);
  const known = await findUserRow(transaction, username);
  return known === undefined ? insertUser(transaction, { username, displayName }, at) : toUser(known);
}
