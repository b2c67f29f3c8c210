import { randomBytes } from 'node:crypto';
import { AppError } from '../errors.js';
import { inTransaction } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import type { PasskeysTable } from '../storage/tables.js';
import type { Caller } from './callers.js';
import { createChallenge, takeChallenge } from './challenges.js';
import { readChallenge, refuseCeremony } from './credential-json.js';
import { recordEvent } from './events.js';
import { toCreationOptions } from './passkey-options.js';
import type { CreationOptions } from './passkey-options.js';
import type { PasskeyWitness } from './passkey-witness.js';
import type { RelyingParty } from './relying-party.js';
import { requireSession } from './scopes.js';
import { parseLabel } from './usernames.js';
import { verifyNewPasskey } from './verify-passkey.js';

/** More devices than anyone signs in from. */
const MAX_PASSKEYS = 20;

export interface Passkey {
  /** The credential's id, base64url. */
  readonly id: string;
  readonly label: string;
  readonly createdAt: Date;
  /** `undefined` while nobody signed in with it. */
  readonly lastUsedAt: Date | undefined;
}

/** The passkeys of the caller, who must be there in person: `session_required` for a token. */
export interface Passkeys {
  /** Oldest first. */
  list(caller: Caller | undefined): Promise<Passkey[]>;
  begin(caller: Caller | undefined): Promise<CreationOptions>;
  /**
   * @param added A name for it, and the credential as the browser answered, unchecked.
   * @throws AppError `invalid_input` for a label that is none, when there are 20 already,
   * and as the one refusal of every ceremony.
   */
  finish(caller: Caller | undefined, added: AddedPasskey, from: string): Promise<Passkey>;
  /** @throws AppError `not_found` for an id that is unknown or another's, `invalid_input` for a label that is none. */
  rename(
    caller: Caller | undefined,
    passkey: Omit<Passkey, 'createdAt' | 'lastUsedAt'>,
    from: string,
  ): Promise<Passkey>;
  /** Does nothing for an id that is unknown or another's. @throws AppError `invalid_input` for the last one. */
  remove(caller: Caller | undefined, id: string, from: string): Promise<void>;
}

export interface AddedPasskey {
  /** `passkey` and its number when left out. */
  readonly label?: string | undefined;
  readonly credential: unknown;
}

export interface PasskeyParts {
  readonly relyingParty: () => RelyingParty;
  readonly witness: PasskeyWitness;
  readonly now: () => number;
}

export function createPasskeys(database: Database, { relyingParty, witness, now }: PasskeyParts): Passkeys {
  return {
    async list(caller) {
      return (await listRows(database, requireSession(caller).personId)).map(toPasskey);
    },
    async begin(caller) {
      const { personId, username } = requireSession(caller);
      const rows = await listRows(database, personId);
      const userHandle = rows[0]?.user_handle ?? randomBytes(32).toString('base64url');
      const memory = { person_id: personId, user_handle: userHandle, at: now() };
      const challenge = await createChallenge(database, { ceremony: 'add', ...memory });
      const known = rows.map(({ id }) => id);
      return toCreationOptions(relyingParty(), { username, displayName: username, userHandle, challenge, known });
    },
    async finish(caller, { label, credential }, from) {
      const session = requireSession(caller);
      const { personId } = session;
      const name = label === undefined ? undefined : parseLabel(label);
      const challenge = readChallenge(credential);
      const begun = await takeChallenge(database, challenge, { ceremony: 'add', at: now() });
      if (begun?.person_id !== personId) throw refuseCeremony();
      const verified = await verifyNewPasskey(credential, { challenge, relyingParty: relyingParty() });
      const own = { ...verified, person_id: personId, user_handle: begun.user_handle ?? '', created_at: now() };
      return inTransaction(database, async (transaction) => {
        const rows = await listRows(transaction, personId);
        requireRoom(rows);
        const row = await storePasskey(transaction, { ...own, label: name ?? `passkey ${rows.length + 1}` });
        const act = { actor: session, personId, from, at: now() };
        await recordEvent(transaction, { action: 'passkey_added', subject: row.id, ...act });
        await witness(transaction, { action: 'create', passkeyId: row.id, ...act });
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
        if (row === undefined) throw new AppError('not_found', 'Expected the id of a passkey of yours; there is none.');
        const act = { actor: session, personId, from, at: now() };
        await recordEvent(transaction, { action: 'passkey_renamed', subject: id, ...act });
        await witness(transaction, { action: 'rename', passkeyId: id, ...act });
        return toPasskey(row);
      });
    },
    async remove(caller, id, from) {
      const session = requireSession(caller);
      const { personId } = session;
      await inTransaction(database, async (transaction) => {
        const rows = await listRows(transaction, personId);
        if (!rows.some((row) => row.id === id)) return;
        requireAnother(rows);
        await transaction.deleteFrom('passkeys').where('id', '=', id).execute();
        const act = { actor: session, personId, from, at: now() };
        await recordEvent(transaction, { action: 'passkey_removed', subject: id, ...act });
        await witness(transaction, { action: 'delete', passkeyId: id, ...act });
      });
    },
  };
}

/** In the caller's transaction. @throws AppError the refusal of a ceremony, for a credential that somebody has already. */
export async function storePasskey(
  transaction: Database,
  passkey: Omit<PasskeysTable, 'last_used_at' | 'wrapped_identity'>,
): Promise<PasskeysTable> {
  const row = { ...passkey, last_used_at: null, wrapped_identity: null };
  const known = transaction.selectFrom('passkeys').select('id').where('id', '=', row.id);
  if ((await known.executeTakeFirst()) !== undefined) throw refuseCeremony();
  await transaction.insertInto('passkeys').values(row).execute();
  return row;
}

function listRows(database: Database, personId: string): Promise<PasskeysTable[]> {
  const own = database.selectFrom('passkeys').selectAll().where('person_id', '=', personId);
  return own.orderBy('created_at').orderBy('id').execute();
}

function requireRoom(rows: readonly PasskeysTable[]): void {
  if (rows.length < MAX_PASSKEYS) return;
  throw new AppError('invalid_input', `Expected at most ${MAX_PASSKEYS} passkeys; remove one first.`);
}

function requireAnother(rows: readonly PasskeysTable[]): void {
  if (rows.length > 1) return;
  throw new AppError('invalid_input', 'Expected another passkey to stay; without one nobody could sign in.');
}

function toPasskey({ id, label, created_at, last_used_at }: PasskeysTable): Passkey {
  const lastUsedAt = last_used_at === null ? undefined : new Date(last_used_at);
  return { id, label, createdAt: new Date(created_at), lastUsedAt };
}
