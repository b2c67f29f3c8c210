import { together } from '../together.js';
import type { Database } from '../storage/database.js';
import { prepareEach } from '../storage/prepared-each.js';
import type { Caller } from './callers.js';
import { findTokenKind, hashSecret } from './token-format.js';
import type { TokenKind } from './token-format.js';
import { parseScopes } from './tokens.js';

/** The time of last use is written at most this often. */
const LAST_USED_PRECISION_MS = 60_000;

/** Beyond so many, one statement saves nothing that could be measured. */
const MAX_TOGETHER = 32;

const findTokens = prepareEach((database, { hash }: { readonly hash: string }) =>
  database
    .selectFrom('tokens')
    .innerJoin('people', 'people.id', 'tokens.person_id')
    .select([
      'tokens.id',
      'kind',
      'consumer',
      'scopes',
      'expires_at',
      'last_used_at',
      'person_id',
      'username',
      'is_admin',
    ])
    .where('hash', '=', hash)
    .where('revoked_at', 'is', null),
);

type TokenRow = Awaited<ReturnType<typeof findTokens>>[number][number];

/** Finds whom a token of one of these kinds speaks for at a time in milliseconds. */
export type FindTokenCaller = (token: string, at: number) => Promise<Caller | undefined>;

/**
 * Makes the function that finds whom a token speaks for, and notes that it was
 * used. Those that are asked for at the same time are looked up together, and
 * never before they were asked for, so a token that is revoked is dead at once.
 *
 * It gives `undefined` when the token is malformed, of another kind, unknown,
 * revoked or expired, which look the same from outside.
 */
export function createTokenCallers(database: Database, kinds: readonly TokenKind[]): FindTokenCaller {
  const findTogether = together<string, TokenRow | undefined>(MAX_TOGETHER, async (take) => {
    const asked = take();
    // A script that asks for much at once shows one token.
    const hashes = [...new Set(asked)];
    const found = await findTokens(
      database,
      hashes.map((hash) => ({ hash })),
    );
    const rows = new Map(hashes.map((hash, place) => [hash, found[place]?.[0]]));
    return asked.map((hash) => rows.get(hash));
  });
  return async (token, at) => {
    const kind = findTokenKind(token);
    if (kind === undefined || !kinds.includes(kind)) return undefined;
    const row = await findTogether(hashSecret(token));
    if (row === undefined || row.expires_at <= at) return undefined;
    await noteUse(database, row, at);
    return toCaller(row);
  };
}

async function noteUse(database: Database, { id, last_used_at: lastUsedAt }: TokenRow, at: number): Promise<void> {
  if (lastUsedAt !== null && at - lastUsedAt < LAST_USED_PRECISION_MS) return;
  await database.updateTable('tokens').set({ last_used_at: at }).where('id', '=', id).execute();
}

function toCaller({ id: tokenId, consumer, person_id: personId, username, scopes, is_admin }: TokenRow): Caller {
  return consumer === null
    ? { kind: 'token', tokenId, personId, username, isAdmin: is_admin === 1, scopes: parseScopes(scopes) }
    : { kind: 'consumer_token', tokenId, consumer };
}
