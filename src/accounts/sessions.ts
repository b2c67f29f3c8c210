import { randomBytes } from 'node:crypto';
import { inTransaction } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import { prepare } from '../storage/prepared.js';
import type { Caller, SessionCaller } from './callers.js';
import { recordEvent } from './events.js';
import { requireSession } from './scopes.js';
import { hashSecret } from './token-format.js';

const DAY_MS = 86_400_000;
const LIFETIME_MS = 30 * DAY_MS;

/** The limit from the start of a session, however often it is used, so that a stolen cookie expires. */
const MAX_LIFETIME_MS = 90 * DAY_MS;

/** The minimum time between two writes that extend a session. */
const RENEW_AFTER_MS = DAY_MS;

export interface Sessions {
  /** Starts a session. @returns the secret id for the cookie; only its hash is stored. */
  start(personId: string): Promise<string>;
  /** Finds the user of a session, and extends the session by 30 days, to at most 90 days after its start. */
  findCaller(id: string): Promise<SessionCaller | undefined>;
  /** Ends the caller's session. Does nothing without a session. */
  signOut(caller: Caller | undefined, from: string): Promise<void>;
  /**
   * Ends all sessions of the caller, including the current one. Tokens stay valid.
   *
   * @throws AppError `session_required` for a token.
   */
  signOutEverywhere(caller: Caller | undefined, from: string): Promise<void>;
}

export function createSessions(database: Database, now: () => number = Date.now): Sessions {
  return {
    start: (personId) => startSession(database, personId, now()),
    findCaller: (id) => findCaller(database, hashSecret(id), now()),
    async signOut(caller, from) {
      if (caller?.kind !== 'session') return;
      const { personId, sessionId } = caller;
      await inTransaction(database, async (transaction) => {
        await transaction.deleteFrom('sessions').where('id_hash', '=', sessionId).execute();
        await recordEvent(transaction, { action: 'signed_out', actor: caller, personId, from, at: now() });
      });
    },
    async signOutEverywhere(caller, from) {
      const session = requireSession(caller);
      const { personId } = session;
      await inTransaction(database, async (transaction) => {
        await transaction.deleteFrom('sessions').where('person_id', '=', personId).execute();
        await recordEvent(transaction, { action: 'signed_out_everywhere', actor: session, personId, from, at: now() });
      });
    },
  };
}

/** Starts a session in the transaction of the calling code. @returns the secret id for the cookie. */
export async function startSession(database: Database, personId: string, at: number): Promise<string> {
  const id = randomBytes(32).toString('base64url');
  const row = { id_hash: hashSecret(id), person_id: personId, created_at: at, expires_at: at + LIFETIME_MS };
  await database.insertInto('sessions').values(row).execute();
  return id;
}

const findSession = prepare((database, { idHash, at }: { readonly idHash: string; readonly at: number }) =>
  database
    .selectFrom('sessions')
    .innerJoin('people', 'people.id', 'sessions.person_id')
    .select(['person_id', 'sessions.created_at', 'expires_at', 'username', 'is_admin'])
    .where('id_hash', '=', idHash)
    .where('expires_at', '>', at),
);

async function findCaller(database: Database, idHash: string, at: number): Promise<SessionCaller | undefined> {
  const [row] = await findSession(database, { idHash, at });
  if (row === undefined) return undefined;
  const expiresAt = Math.min(at + LIFETIME_MS, row.created_at + MAX_LIFETIME_MS);
  // Earlier releases extended sessions without a limit.
  if (expiresAt <= at) return undefined;
  if (expiresAt - row.expires_at >= RENEW_AFTER_MS) {
    const renewed = { expires_at: expiresAt };
    await database.updateTable('sessions').set(renewed).where('id_hash', '=', idHash).execute();
  }
  const { person_id: personId, username, is_admin } = row;
  return { kind: 'session', sessionId: idHash, personId, username, isAdmin: is_admin === 1 };
}
