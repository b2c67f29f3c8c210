import type { IssuedToken } from '../accounts/service-tokens.js';
import { AppError } from '../errors.js';
import type { TokensTable } from '../storage/tables.js';

export type TokenStatus = 'active' | 'expired' | 'revoked';

/** What is known of a token; never the token itself. */
export interface SecretToken {
  readonly id: string;
  readonly description: string;
  /** Whom a consumer token speaks for. */
  readonly consumer: string | undefined;
  /** The id of the actor who issued it; `undefined` for the server's command line. */
  readonly issuedBy: string | undefined;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** To the minute; `undefined` while it was not used. */
  readonly lastUsedAt: Date | undefined;
  /** By this server's clock; revoked wins over expired. */
  readonly status: TokenStatus;
}

/** The one answer that holds the token itself, which is not kept and never shown again. */
export type IssuedSecretToken = SecretToken & { readonly token: string };

const DAY_SECONDS = 86_400;
const DEFAULT_TTL_SECONDS = 90 * DAY_SECONDS;

/** What nobody replaced for a year, nobody remembers. */
const MAX_TTL_SECONDS = 365 * DAY_SECONDS;

/** @throws AppError `invalid_input` for less than a second or more than 365 days. */
export function toExpiry(at: number, ttlSeconds = DEFAULT_TTL_SECONDS): Date {
  if (ttlSeconds >= 1 && ttlSeconds <= MAX_TTL_SECONDS) return new Date(at + ttlSeconds * 1_000);
  const message = `Expected ttl_seconds to be 1 to ${MAX_TTL_SECONDS}, which is 365 days.`;
  throw new AppError('invalid_input', message, { field: 'ttl_seconds' });
}

/** @param at When it is looked at, in milliseconds. */
export function toSecretToken(row: TokensTable, at: number): SecretToken {
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

export function toIssued({ row, token }: IssuedToken, at: number): IssuedSecretToken {
  return { ...toSecretToken(row, at), token };
}

function toStatus({ revoked_at, expires_at }: TokensTable, at: number): TokenStatus {
  if (revoked_at !== null) return 'revoked';
  return expires_at > at ? 'active' : 'expired';
}
