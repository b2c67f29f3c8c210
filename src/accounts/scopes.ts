import { AppError } from '../errors.js';
import type { Caller, SessionCaller, TokenCaller } from './callers.js';

/** Someone with an account, in person or through a token. */
export type PersonCaller = SessionCaller | TokenCaller;

/** @throws AppError `unauthenticated` for nobody, and for tokens that stand for no person. */
export function requirePerson(caller: Caller | undefined): PersonCaller {
  if (caller === undefined || caller.kind === 'consumer_token') {
    throw new AppError('unauthenticated', 'Expected the session or the token of a person.');
  }
  return caller;
}

/** @throws AppError `session_required` for a token. */
export function requireSession(caller: Caller | undefined): SessionCaller {
  const person = requirePerson(caller);
  if (person.kind === 'session') return person;
  throw new AppError('session_required', 'Expected a session; a token may not do this.');
}

/** @throws AppError `session_required` for a token, `forbidden` for a session of anybody but an admin. */
export function requireAdminSession(caller: Caller | undefined): SessionCaller {
  const session = requireSession(caller);
  if (session.isAdmin) return session;
  throw new AppError('forbidden', 'Expected the session of an admin.');
}

/** The secrets belong to one person: the admin. @throws AppError `forbidden` for anybody else. */
export function requireOwner(caller: Caller | undefined): PersonCaller {
  const person = requirePerson(caller);
  if (person.isAdmin) return person;
  throw new AppError('forbidden', 'Expected the owner of the secrets.');
}
