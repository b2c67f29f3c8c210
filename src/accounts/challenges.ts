import { randomBytes } from 'node:crypto';
import type { Database } from '../storage/database.js';
import type { ChallengesTable } from '../storage/tables.js';
import { hashSecret } from './token-format.js';

/** The lifetime of a challenge in milliseconds, long enough to fetch a security key. */
export const CEREMONY_MS = 5 * 60_000;

export type Ceremony = ChallengesTable['ceremony'];

/** The state of a ceremony between its start and its end. */
type CeremonyState = Partial<
  Pick<ChallengesTable, 'display_name' | 'invitation_id' | 'person_id' | 'user_handle' | 'username'>
>;

/** Creates a challenge of 32 random bytes in base64url. Only its hash is stored; it is valid for 5 minutes. */
export async function createChallenge(
  database: Database,
  { ceremony, at, ...state }: CeremonyState & { readonly ceremony: Ceremony; readonly at: number },
): Promise<string> {
  const challenge = randomBytes(32).toString('base64url');
  const row = {
    hash: hashSecret(challenge),
    ceremony,
    person_id: null,
    invitation_id: null,
    username: null,
    display_name: null,
    user_handle: null,
    ...state,
    expires_at: at + CEREMONY_MS,
  };
  await database.insertInto('challenges').values(row).execute();
  return challenge;
}

/**
 * Finds and deletes a challenge, so that it can be used only once.
 *
 * @returns `undefined` when it is unknown, expired or belongs to a different ceremony.
 */
export async function consumeChallenge(
  database: Database,
  challenge: string,
  { ceremony, at }: { readonly ceremony: Ceremony; readonly at: number },
): Promise<ChallengesTable | undefined> {
  const row = await database
    .deleteFrom('challenges')
    .where('hash', '=', hashSecret(challenge))
    .returningAll()
    .executeTakeFirst();
  return row?.ceremony === ceremony && row.expires_at > at ? row : undefined;
}
