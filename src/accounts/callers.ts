import { BlockList, isIP } from 'node:net';
import { AppError } from '@trellis/core/errors';
import type { Database } from '../storage/database.js';

/** The authenticated origin of a request. */
export type Caller = ConsumerTokenCaller | SessionCaller | TokenCaller;

interface CallingUser {
  readonly personId: string;
  readonly username: string;
  readonly isAdmin: boolean;
}

/** A user signed in with a passkey. */
export interface SessionCaller extends CallingUser {
  readonly kind: 'session';
  readonly sessionId: string;
  /** The time of the sign-in with a passkey, in milliseconds since the epoch; absent if it is unknown. */
  readonly startedAt?: number;
}

/** A user's script with an API token, or with a write token of the secrets service. */
export interface TokenCaller extends CallingUser {
  readonly kind: 'token';
  readonly tokenId: string;
  /** The scopes of an API token, or the permissions of a write token. */
  readonly scopes: readonly Permission[];
  /** The restrictions of a write token; absent for none. */
  readonly access?: TokenAccess;
}

/** A consumer with a consumer token, which can only list the secrets that name it, and read their values. */
export interface ConsumerTokenCaller {
  readonly kind: 'consumer_token';
  readonly tokenId: string;
  readonly consumer: string;
}

export type Scope = 'read' | 'write';

/**
 * A permission of a write token: `list` metadata, `read` encrypted values, `write` values and labels, and `manage` the rest:
 * deleting secrets, consumers and their tokens.
 */
export type Permission = Scope | 'list' | 'manage';

/** The restrictions of a token of the secrets service. An absent member restricts nothing. */
export interface TokenAccess {
  readonly permissions?: readonly Permission[];
  /** Only secrets whose name starts with this text. */
  readonly namePrefix?: string;
  /** Only secrets with at least one of these tags. */
  readonly tags?: readonly string[];
  /** Only secrets that name at least one of these consumers. */
  readonly consumers?: readonly string[];
  /** Only requests from these IP addresses and ranges. */
  readonly addresses?: readonly string[];
}

/** A user, signed in or represented by a token. */
export type UserCaller = SessionCaller | TokenCaller;

/** @throws AppError `unauthenticated` without a caller, and for consumer tokens. */
export function requireUser(caller: Caller | undefined): UserCaller {
  if (caller === undefined || caller.kind === 'consumer_token') {
    throw new AppError('unauthenticated', "This operation requires a user's session or token.");
  }
  return caller;
}

/** @throws AppError `session_required` for a token. */
export function requireSession(caller: Caller | undefined): SessionCaller {
  const person = requireUser(caller);
  if (person.kind === 'session') return person;
  throw new AppError('session_required', "This operation requires a session; tokens can't use it.");
}

/** @throws AppError `session_required` for a token, `forbidden` for a session of a user who isn't an admin. */
export function requireAdminSession(caller: Caller | undefined): SessionCaller {
  const session = requireSession(caller);
  if (session.isAdmin) return session;
  throw new AppError('forbidden', 'Only admins can do this.');
}

/** The admin is the owner of all secrets. @throws AppError `forbidden` for other users. */
export function requireOwner(caller: Caller | undefined): UserCaller {
  const person = requireUser(caller);
  if (person.isAdmin) return person;
  throw new AppError('forbidden', 'Only the owner of the secrets can do this.');
}

/** The time after a sign-in in which its session can make sensitive changes. */
const RECENT_MS = 10 * 60_000;

/**
 * Asserts that the user of a session has used a passkey in the last 10 minutes, so that a stolen cookie or an unlocked device
 * is not enough to get lasting access. Tokens have no such limit; other checks decide what they can do.
 *
 * @throws AppError `unauthenticated` with the challenge of RFC 9470, after which clients sign in again and repeat the request.
 */
export function assertRecentSignIn(caller: Caller | undefined, at: number): void {
  if (caller?.kind !== 'session' || at - (caller.startedAt ?? 0) <= RECENT_MS) return;
  const challenge = `Bearer error="insufficient_user_authentication", max_age=${RECENT_MS / 1_000}`;
  const message = 'Confirm this with your passkey: sign in again, then repeat it within 10 minutes.';
  throw new AppError('unauthenticated', message, { headers: { 'WWW-Authenticate': challenge } });
}

/** Creates the error for a credential that is invalid, whatever the reason. */
export function invalidCredential(challenge = 'Bearer'): AppError {
  const headers = { 'WWW-Authenticate': challenge };
  return new AppError('unauthenticated', 'The session or token is invalid, expired or revoked.', { headers });
}

/**
 * Asserts that a session still exists, in the transaction that gives its user lasting access. A request that began before
 * the access was revoked would otherwise give it back.
 *
 * @throws AppError `unauthenticated`
 */
export async function assertSessionOpen(transaction: Database, { sessionId }: SessionCaller): Promise<void> {
  const sessions = transaction.selectFrom('sessions').select('person_id').where('id_hash', '=', sessionId);
  if ((await sessions.executeTakeFirst()) === undefined) throw invalidCredential();
}

/** Asserts that the session or the token of a caller is still valid, as {@link assertSessionOpen} does for sessions. */
export async function assertNotRevoked(transaction: Database, caller: UserCaller): Promise<void> {
  if (caller.kind === 'session') return assertSessionOpen(transaction, caller);
  const tokens = transaction.selectFrom('tokens').select('id').where('id', '=', caller.tokenId);
  if ((await tokens.where('revoked_at', 'is', null).executeTakeFirst()) === undefined) throw invalidCredential();
}

/** The permissions of a write token without restrictions, and of the owner's session. */
export const ALL_PERMISSIONS: readonly Permission[] = ['list', 'read', 'write', 'manage'];

/** The limit for ranges; more networks than one script runs in. */
const MAX_ADDRESSES = 20;

/**
 * Checks address ranges, such as `10.0.0.0/8` or `2001:db8::1`.
 *
 * @throws AppError `invalid_input` for another text, and for more than 20.
 */
export function parseAddresses(texts: readonly string[]): readonly string[] {
  if (texts.length > MAX_ADDRESSES) {
    const message = `Expected at most ${MAX_ADDRESSES} address ranges; received ${texts.length}.`;
    throw new AppError('invalid_input', message, { field: 'addresses' });
  }
  for (const [index, text] of texts.entries()) {
    if (parseRange(text) !== undefined) continue;
    const message = `Expected an IP address or range such as 10.0.0.0/8; received ${JSON.stringify(text.slice(0, 64))}.`;
    throw new AppError('invalid_input', message, { field: `addresses.${index}` });
  }
  return [...new Set(texts)];
}

interface Range {
  readonly address: string;
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';
}

function parseRange(text: string): Range | undefined {
  const [, address = '', length] = /^([\d.a-f:]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const version = isIP(address);
  if (version === 0) return undefined;
  const bits = version === 4 ? 32 : 128;
  const prefix = length === undefined ? bits : Number(length);
  return prefix > bits ? undefined : { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' };
}

/** Reports whether a token may be used from an address. A token without ranges may be used from everywhere. */
export function isAddressAllowed({ addresses }: TokenAccess, address: string): boolean {
  if (addresses === undefined) return true;
  const version = isIP(address);
  if (version === 0) return false;
  const list = new BlockList();
  for (const text of addresses) {
    const range = parseRange(text);
    if (range !== undefined) list.addSubnet(range.address, range.prefix, range.family);
  }
  return list.check(address, version === 4 ? 'ipv4' : 'ipv6');
}

/** Formats access for its column; `null` for a token without restrictions. */
export function formatAccess(access: TokenAccess | undefined): string | null {
  const given = Object.entries(access ?? {}).filter(([, value]) => value !== undefined);
  return given.length === 0 ? null : JSON.stringify(Object.fromEntries(given));
}

/** Parses stored access, which was validated before it was stored. */
export function parseAccess(text: string | null): TokenAccess | undefined {
  return text === null ? undefined : (JSON.parse(text) as TokenAccess);
}
