import type { IssuedToken } from '../accounts/service-tokens.js';
import { AppError } from '../core/errors.js';
import type { TokensTable } from '../storage/tables.js';

export type TokenStatus = 'active' | 'expired' | 'revoked';

/** The metadata of a token, without the token itself. */
export interface TokenMetadata {
  readonly id: string;
  readonly description: string;
  /** The consumer of a consumer token. */
  readonly consumer: string | undefined;
  /** The id of the actor who issued it; `undefined` for the server's command line. */
  readonly issuedBy: string | undefined;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** To the minute; `undefined` before the first use. */
  readonly lastUsedAt: Date | undefined;
  /** According to this server's clock; `revoked` takes precedence over `expired`. */
  readonly status: TokenStatus;
}

/** A new token with its metadata. Only the hash of the token is stored, so it is returned only once. */
export type IssuedServiceToken = TokenMetadata & { readonly token: string };

const DAY_SECONDS = 86_400;
const DEFAULT_TTL_SECONDS = 90 * DAY_SECONDS;

const MAX_TTL_SECONDS = 365 * DAY_SECONDS;

/** Returns the end of a lifetime. @throws AppError `invalid_input` for less than a second or more than 365 days. */
export function toExpiry(at: number, ttlSeconds = DEFAULT_TTL_SECONDS): Date {
  if (ttlSeconds >= 1 && ttlSeconds <= MAX_TTL_SECONDS) return new Date(at + ttlSeconds * 1_000);
  const message = `Expected ttl_seconds to be between 1 and ${MAX_TTL_SECONDS} (365 days); received ${ttlSeconds}.`;
  throw new AppError('invalid_input', message, { field: 'ttl_seconds' });
}

/** Returns the metadata of a token. @param at The time for its status, in milliseconds. */
export function toTokenMetadata(row: TokensTable, at: number): TokenMetadata {
  return {
    id: row.id,
    description: row.label,
    consumer: row.consumer ?? undefined,
    issuedBy: row.issued_by ?? undefined,
    createdAt: new Date(row.created_at),
    expiresAt: new Date(row.expires_at),
    lastUsedAt: row.last_used_at === null ? undefined : new Date(row.last_used_at),
    status: toStatus(row, at),
  };
}

export function toIssuedToken({ row, token }: IssuedToken, at: number): IssuedServiceToken {
  return { ...toTokenMetadata(row, at), token };
}

function toStatus({ revoked_at, expires_at }: TokensTable, at: number): TokenStatus {
  if (revoked_at !== null) return 'revoked';
  return expires_at > at ? 'active' : 'expired';
}
