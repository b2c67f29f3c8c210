import { type Database, inTransaction } from '../storage/database.js';
import { type PasskeysTable, toUsernameKey } from '../storage/tables.js';
import { startSession } from './authentication.js';
import type { SessionCaller } from './callers.js';
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
} from './ceremony.js';
import { recordEvent } from './events.js';
import type { SignInResult } from './registration.js';
import { toUser } from './users.js';
import { verifyPasskey } from './verify-passkey.js';

export interface FinishSignInRequest {
  /** The username that the passkey must belong to; by default any. */
  readonly username?: string;
  /** Whether only the admin can sign in. */
  readonly onlyAdmin?: boolean;
  /** The unverified credential from the browser. */
  readonly credential: unknown;
  /** The `User-Agent` of the browser, of which the session stores a coarse name. */
  readonly userAgent?: string;
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
    async finish({ username, onlyAdmin = false, credential, userAgent }, from) {
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
        return { user, sessionId: await startSession(transaction, { personId: user.id, userAgent, at }) };
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
