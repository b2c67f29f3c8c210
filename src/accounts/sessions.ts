import { randomBytes } from 'node:crypto';
import type { Database } from '../storage/database.js';
import type { SessionCaller } from './callers.js';
import { hashSecret } from './token-format.js';

const DAY_MS = 86_400_000;
const LIFETIME_MS = 30 * DAY_MS;

/** A session slides, but is written at most this often. */
const RENEW_AFTER_MS = DAY_MS;

export interface Sessions {
  /** @returns the secret id that the cookie carries; only its hash is kept. */
  start(personId: string): Promise<string>;
  /** Finds who a session belongs to, and lets it live for another 30 days. */
  findCaller(id: string): Promise<SessionCaller | undefined>;
  end(id: string): Promise<void>;
}

export function createSessions(database: Database, now: () => number = Date.now): Sessions {
  return {
    async start(personId) {
      const id = randomBytes(32).toString('base64url');
      const row = { id_hash: hashSecret(id), person_id: personId, created_at: now(), expires_at: now() + LIFETIME_MS };
      await database.insertInto('sessions').values(row).execute();
      return id;
    },
    findCaller: (id) => findCaller(database, hashSecret(id), now()),
    async end(id) {
      await database.deleteFrom('sessions').where('id_hash', '=', hashSecret(id)).execute();
    },
  };
}

async function findCaller(database: Database, idHash: string, at: number): Promise<SessionCaller | undefined> {
  const row = await database
    .selectFrom('sessions')
    .innerJoin('people', 'people.id', 'sessions.person_id')
    .select(['person_id', 'expires_at', 'username', 'is_admin'])
    .where('id_hash', '=', idHash)
    .where('expires_at', '>', at)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  if (at + LIFETIME_MS - row.expires_at >= RENEW_AFTER_MS) {
    const renewed = { expires_at: at + LIFETIME_MS };
    await database.updateTable('sessions').set(renewed).where('id_hash', '=', idHash).execute();
  }
  const { person_id: personId, username, is_admin } = row;
  return { kind: 'session', sessionId: idHash, personId, username, isAdmin: is_admin === 1 };
}
