import { AppError } from '@trellis/core/errors';

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
}

/** A user's script with an API token, or with a write token of the secrets service. */
export interface TokenCaller extends CallingUser {
  readonly kind: 'token';
  readonly tokenId: string;
  readonly scopes: readonly Scope[];
}

/** A consumer with a consumer token, which can only read the values of secrets that name it. */
export interface ConsumerTokenCaller {
  readonly kind: 'consumer_token';
  readonly tokenId: string;
  readonly consumer: string;
}

export type Scope = 'read' | 'write';

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
