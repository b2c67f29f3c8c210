import type { Database } from '../storage/database.js';
import type { TokensTable } from '../storage/tables.js';
import { issueToken } from './issue-token.js';
import type { TokenIssue } from './issue-token.js';
import { createToken, hashSecret } from './token-format.js';
import type { TokenKind } from './token-format.js';

/** Write and consumer tokens, which are kept when they are dead until they are purged. */
export type ServiceTokenKind = Exclude<TokenKind, 'personal'>;

/** Where a token is, and when the question is asked. */
export interface TokenPlace {
  readonly kind: ServiceTokenKind;
  readonly id: string;
  /** Milliseconds; says what has expired. */
  readonly at: number;
}

/** The token itself, which is not kept, and what is kept of it. */
export interface IssuedToken {
  readonly token: string;
  readonly row: TokensTable;
}

/** Keeps the tokens of a service. Who may do what, and saying so in its log, is the service's own. */
export interface ServiceTokens {
  issue(
    transaction: Database,
    issue: Omit<TokenIssue, 'kind' | 'scopes'> & Pick<TokenPlace, 'kind'>,
  ): Promise<IssuedToken>;
  /** A new secret and expiry for a token; the old secret is dead at once. @returns `undefined` unless it is active. */
  renew(transaction: Database, place: TokenPlace, expiresAt: Date): Promise<IssuedToken | undefined>;
  /** @returns whether it was active until now. */
  revoke(transaction: Database, place: TokenPlace): Promise<boolean>;
  /** Forgets a dead token. @returns whether it was there, and dead. */
  purge(transaction: Database, place: TokenPlace): Promise<'active' | 'purged' | 'unknown'>;
}

export const serviceTokens: ServiceTokens = {
  // What their bearers may do is for the kind to say; they have no narrower scopes.
  issue: (transaction, issue) => issueToken(transaction, { ...issue, scopes: ['read', 'write'] }),
  async renew(transaction, place, expiresAt) {
    const token = createToken(place.kind);
    const renewed = { hash: hashSecret(token), expires_at: expiresAt.getTime() };
    const row = await active(transaction, place).set(renewed).returningAll().executeTakeFirst();
    return row && { token, row };
  },
  async revoke(transaction, place) {
    const row = await active(transaction, place).set({ revoked_at: place.at }).returning('id').executeTakeFirst();
    return row !== undefined;
  },
  async purge(transaction, { kind, id, at }) {
    const tokens = transaction.selectFrom('tokens').selectAll().where('kind', '=', kind).where('id', '=', id);
    const row = await tokens.executeTakeFirst();
    if (row === undefined) return 'unknown';
    if (row.revoked_at === null && row.expires_at > at) return 'active';
    await transaction.deleteFrom('tokens').where('id', '=', id).execute();
    return 'purged';
  },
};

function active(transaction: Database, { kind, id, at }: TokenPlace) {
  return transaction
    .updateTable('tokens')
    .where('kind', '=', kind)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', at);
}
