import { randomBytes } from 'node:crypto';
import type { Database } from '../storage/database.js';
import type { ChallengesTable } from '../storage/tables.js';
import { hashSecret } from './token-format.js';

/** Long enough to look for a security key. */
export const CEREMONY_MS = 5 * 60_000;

export type Ceremony = ChallengesTable['ceremony'];

/** What a ceremony has to remember between its begin and its finish. */
type Memory = Partial<
  Pick<ChallengesTable, 'display_name' | 'invitation_id' | 'person_id' | 'user_handle' | 'username'>
>;

/** @returns 32 random bytes in base64url; only their hash is kept, for 5 minutes. */
export async function createChallenge(
  database: Database,
  { ceremony, at, ...memory }: Memory & { readonly ceremony: Ceremony; readonly at: number },
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
    ...memory,
    expires_at: at + CEREMONY_MS,
  };
  await database.insertInto('challenges').values(row).execute();
  return challenge;
}

/** Finds what a challenge stands for, and deletes it, whatever becomes of the ceremony: each is answered once. */
export async function takeChallenge(
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
