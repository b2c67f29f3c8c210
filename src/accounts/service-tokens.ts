import type { Database } from '../storage/database.js';
import type { TokensTable } from '../storage/tables.js';
import { issueToken } from './issue-token.js';
import type { IssueTokenOptions } from './issue-token.js';
import { createToken, hashSecret } from './token-format.js';
import type { TokenKind } from './token-format.js';

/** The kinds of token that stay stored after they expire or are revoked, until they are purged. */
export type ServiceTokenKind = Exclude<TokenKind, 'personal'>;

/** Identifies a token, with the time of the operation. */
export interface TokenReference {
  readonly kind: ServiceTokenKind;
  readonly id: string;
  /** Milliseconds; determines whether the token has expired. */
  readonly at: number;
}

/** A new token with its stored row, which contains only its hash. */
export interface IssuedToken {
  readonly token: string;
  readonly row: TokensTable;
}

/** Stores the tokens of a service. The service itself checks permissions and writes its audit log. */
export interface ServiceTokens {
  issue(
    transaction: Database,
    issue: Omit<IssueTokenOptions, 'kind' | 'scopes'> & Pick<TokenReference, 'kind'>,
  ): Promise<IssuedToken>;
  /**
   * Replaces the value and the expiry of a token. The old value becomes invalid immediately.
   *
   * @returns `undefined` unless the token is active.
   */
  renew(transaction: Database, place: TokenReference, expiresAt: Date): Promise<IssuedToken | undefined>;
  /** @returns whether the token was active. */
  revoke(transaction: Database, place: TokenReference): Promise<boolean>;
  /** Deletes an expired or revoked token. */
  purge(transaction: Database, place: TokenReference): Promise<'active' | 'purged' | 'unknown'>;
}

export const serviceTokens: ServiceTokens = {
  // The kind of these tokens determines their permissions, so they have all scopes.
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

function active(transaction: Database, { kind, id, at }: TokenReference) {
  return transaction
    .updateTable('tokens')
    .where('kind', '=', kind)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', at);
}
