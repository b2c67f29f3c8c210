import type { Database } from '../storage/database.js';
import { prepare } from '../storage/prepared.js';
import type { Caller } from './callers.js';
import { findTokenKind, hashSecret } from './token-format.js';
import type { TokenKind } from './token-format.js';
import { parseScopes } from './tokens.js';

/** The time of last use is written at most this often. */
const LAST_USED_PRECISION_MS = 60_000;

const findToken = prepare((database, { hash, at }: { readonly hash: string; readonly at: number }) =>
  database
    .selectFrom('tokens')
    .innerJoin('people', 'people.id', 'tokens.person_id')
    .select(['tokens.id', 'kind', 'consumer', 'scopes', 'last_used_at', 'person_id', 'username', 'is_admin'])
    .where('hash', '=', hash)
    .where('expires_at', '>', at)
    .where('revoked_at', 'is', null),
);

/**
 * Finds whom a token speaks for, and notes that it was used.
 *
 * @returns `undefined` when it is malformed, of another kind, unknown, revoked
 * or expired, which look the same from outside.
 */
export async function findTokenCaller(
  database: Database,
  token: string,
  { kinds, at }: { readonly kinds: readonly TokenKind[]; readonly at: number },
): Promise<Caller | undefined> {
  const kind = findTokenKind(token);
  if (kind === undefined || !kinds.includes(kind)) return undefined;
  const [row] = await findToken(database, { hash: hashSecret(token), at });
  if (row === undefined) return undefined;
  if (row.last_used_at === null || at - row.last_used_at >= LAST_USED_PRECISION_MS) {
    await database.updateTable('tokens').set({ last_used_at: at }).where('id', '=', row.id).execute();
  }
  const { id: tokenId, consumer, person_id: personId, username, scopes } = row;
  return consumer === null
    ? { kind: 'token', tokenId, personId, username, isAdmin: row.is_admin === 1, scopes: parseScopes(scopes) }
    : { kind: 'consumer_token', tokenId, consumer };
}
