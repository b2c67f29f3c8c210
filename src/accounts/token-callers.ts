import { batch } from '../core/batch.js';
import type { Database } from '../storage/database.js';
import { prepareBatch } from '../storage/prepared.js';
import type { Caller } from './callers.js';
import { findTokenKind, hashSecret } from './token-format.js';
import type { TokenKind } from './token-format.js';
import { parseScopes } from './tokens.js';

/** The minimum time between two writes of the time of last use. */
const LAST_USED_PRECISION_MS = 60_000;

/** Larger batches bring no measurable gain. */
const MAX_BATCH = 32;

const findTokens = prepareBatch((database, { hash }: { readonly hash: string }) =>
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

/** Finds the caller that a token identifies, at a time in milliseconds. */
export type FindTokenCaller = (token: string, at: number) => Promise<Caller | undefined>;

/**
 * Creates a function that finds the caller that a token identifies, and records the time of use. Concurrent lookups share
 * one statement, which never starts before the request, so a revoked token is rejected immediately.
 *
 * The function returns `undefined` when the token is malformed, of a different kind, unknown, revoked or expired;
 * clients can't distinguish these cases.
 */
export function createTokenCallers(database: Database, kinds: readonly TokenKind[]): FindTokenCaller {
  const findToken = batch<string, TokenRow | undefined>(MAX_BATCH, async (take) => {
    const requested = take();
    // A script with concurrent requests uses the same token in all of them.
    const hashes = [...new Set(requested)];
    const found = await findTokens(
      database,
      hashes.map((hash) => ({ hash })),
    );
    const rows = new Map(hashes.map((hash, index) => [hash, found[index]?.[0]]));
    return requested.map((hash) => rows.get(hash));
  });
  return async (token, at) => {
    const kind = findTokenKind(token);
    if (kind === undefined || !kinds.includes(kind)) return undefined;
    const row = await findToken(hashSecret(token));
    if (row === undefined || row.expires_at <= at) return undefined;
    await recordUse(database, row, at);
    return toCaller(row);
  };
}

async function recordUse(database: Database, { id, last_used_at: lastUsedAt }: TokenRow, at: number): Promise<void> {
  if (lastUsedAt !== null && at - lastUsedAt < LAST_USED_PRECISION_MS) return;
  await database.updateTable('tokens').set({ last_used_at: at }).where('id', '=', id).execute();
}

function toCaller({ id: tokenId, consumer, person_id: personId, username, scopes, is_admin }: TokenRow): Caller {
  return consumer === null
    ? { kind: 'token', tokenId, personId, username, isAdmin: is_admin === 1, scopes: parseScopes(scopes) }
    : { kind: 'consumer_token', tokenId, consumer };
}
