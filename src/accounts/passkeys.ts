import { randomBytes } from 'node:crypto';
import { AppError } from '@trellis/core/errors';
import { type Database, inTransaction } from '../storage/database.js';
import type { PasskeysTable } from '../storage/tables.js';
import { assertRecentSignIn, assertSessionOpen, type Caller, requireSession } from './callers.js';
import {
  assertUserVerified,
  ceremonyError,
  consumeChallenge,
  createChallenge,
  type CreationOptions,
  readChallenge,
  type RelyingParty,
  toCreationOptions,
  verifyNewPasskey,
} from './ceremony.js';
import { type PasskeyListener, recordEvent } from './events.js';
import { parseLabel } from './users.js';

/** More than the number of devices of any user. */
const MAX_PASSKEYS = 20;

export interface Passkey {
  /** The credential id in base64url. */
  readonly id: string;
  readonly label: string;
  readonly createdAt: Date;
  /** The time of the last sign-in, or `undefined` if it was never used. */
  readonly lastUsedAt: Date | undefined;
}

/** Manages the caller's passkeys. Requires a session: a token gets `session_required`. */
export interface Passkeys {
  /** Lists the passkeys, oldest first. */
  list(caller: Caller | undefined): Promise<Passkey[]>;
  begin(caller: Caller | undefined): Promise<CreationOptions>;
  /**
   * Adds a passkey.
   *
   * @param added A name for the passkey, and the unverified credential from the browser.
   * @throws AppError `invalid_input` for an invalid label, a failed ceremony, or when the user already has 20 passkeys.
   */
  finish(caller: Caller | undefined, added: AddedPasskey, from: string): Promise<Passkey>;
  /** @throws AppError `not_found` unless the passkey is the caller's, `invalid_input` for an invalid label. */
  rename(
    caller: Caller | undefined,
    passkey: Omit<Passkey, 'createdAt' | 'lastUsedAt'>,
    from: string,
  ): Promise<Passkey>;
  /** Removes a passkey, if it is the caller's. @throws AppError `invalid_input` for the last passkey. */
  remove(caller: Caller | undefined, id: string, from: string): Promise<void>;
}

export interface AddedPasskey {
  /** By default `passkey` and its number. */
  readonly label?: string;
  readonly credential: unknown;
}

export interface PasskeyDependencies {
  readonly relyingParty: () => RelyingParty;
  readonly passkeyListener: PasskeyListener;
  readonly now: () => number;
}

export function createPasskeys(
  database: Database,
  { relyingParty, passkeyListener, now }: PasskeyDependencies,
): Passkeys {
  return {
    async list(caller) {
      return (await listRows(database, requireSession(caller).personId)).map(toPasskey);
    },
    async begin(caller) {
      const session = requireSession(caller);
      assertRecentSignIn(session, now());
      const { personId, username, isAdmin } = session;
      const rows = await listRows(database, personId);
      const userHandle = rows[0]?.user_handle ?? randomBytes(32).toString('base64url');
      const state = { person_id: personId, user_handle: userHandle, at: now() };
      const challenge = await createChallenge(database, { ceremony: 'add', ...state });
      const known = rows.map(({ id }) => id);
      return toCreationOptions(relyingParty(), {
        username,
        displayName: username,
        userHandle,
        challenge,
        existingPasskeyIds: known,
        requiresVerification: isAdmin,
      });
    },
    async finish(caller, { label, credential }, from) {
      const session = requireSession(caller);
      const { personId } = session;
      const name = label === undefined ? undefined : parseLabel(label);
      const challenge = readChallenge(credential);
      const begun = await consumeChallenge(database, challenge, { ceremony: 'add', at: now() });
      if (begun?.person_id !== personId) throw ceremonyError();
      const expected = { challenge, relyingParty: relyingParty() };
      const { passkey, isUserVerified } = await verifyNewPasskey(credential, expected);
      assertUserVerified(session, isUserVerified);
      const own = { ...passkey, person_id: personId, user_handle: begun.user_handle ?? '', created_at: now() };
      return inTransaction(database, async (transaction) => {
        await assertSessionOpen(transaction, session);
        const rows = await listRows(transaction, personId);
        assertBelowLimit(rows);
        const row = await insertPasskey(transaction, { ...own, label: name ?? `passkey ${rows.length + 1}` });
        const act = { actor: session, personId, from, at: now() };
        await recordEvent(transaction, { action: 'passkey_added', subject: row.id, ...act });
        await passkeyListener(transaction, { action: 'create', passkeyId: row.id, ...act });
        return toPasskey(row);
      });
    },
    async rename(caller, { id, label }, from) {
      const session = requireSession(caller);
      const { personId } = session;
      const renamed = { label: parseLabel(label) };
      return inTransaction(database, async (transaction) => {
        const own = transaction.updateTable('passkeys').set(renamed).where('person_id', '=', personId);
        const row = await own.where('id', '=', id).returningAll().executeTakeFirst();
        if (row === undefined) throw new AppError('not_found', 'No passkey with this id.');
        const act = { actor: session, personId, from, at: now() };
        await recordEvent(transaction, { action: 'passkey_renamed', subject: id, ...act });
        await passkeyListener(transaction, { action: 'rename', passkeyId: id, ...act });
        return toPasskey(row);
      });
    },
    async remove(caller, id, from) {
      const session = requireSession(caller);
      const { personId } = session;
      await inTransaction(database, async (transaction) => {
        const rows = await listRows(transaction, personId);
        if (!rows.some((row) => row.id === id)) return;
        assertNotLast(rows);
        await transaction.deleteFrom('passkeys').where('id', '=', id).execute();
        const act = { actor: session, personId, from, at: now() };
        await recordEvent(transaction, { action: 'passkey_removed', subject: id, ...act });
        await passkeyListener(transaction, { action: 'delete', passkeyId: id, ...act });
      });
    },
  };
}

/**
 * Stores a passkey in the transaction of the calling code.
 *
 * @throws AppError as {@link ceremonyError} creates it, when a user already has this credential.
 */
export async function insertPasskey(
  transaction: Database,
  passkey: Omit<PasskeysTable, 'last_used_at' | 'wrapped_identity'>,
): Promise<PasskeysTable> {
  const row = { ...passkey, last_used_at: null, wrapped_identity: null };
  const known = transaction.selectFrom('passkeys').select('id').where('id', '=', row.id);
  if ((await known.executeTakeFirst()) !== undefined) throw ceremonyError();
  await transaction.insertInto('passkeys').values(row).execute();
  return row;
}

function listRows(database: Database, personId: string): Promise<PasskeysTable[]> {
  const own = database.selectFrom('passkeys').selectAll().where('person_id', '=', personId);
  return own.orderBy('created_at').orderBy('id').execute();
}

function assertBelowLimit(rows: readonly PasskeysTable[]): void {
  if (rows.length < MAX_PASSKEYS) return;
  throw new AppError('invalid_input', `You have reached the limit of ${MAX_PASSKEYS} passkeys. Remove one first.`);
}

function assertNotLast(rows: readonly PasskeysTable[]): void {
  if (rows.length > 1) return;
  throw new AppError('invalid_input', "You can't remove your last passkey.");
}

function toPasskey({ id, label, created_at, last_used_at }: PasskeysTable): Passkey {
  const lastUsedAt = last_used_at === null ? undefined : new Date(last_used_at);
  return { id, label, createdAt: new Date(created_at), lastUsedAt };
}
