import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../errors.js';
import type { Database } from '../storage/database.js';
import type { Caller } from './callers.js';
import { findCookie, sessionCookieName } from './cookies.js';
import type { Sessions } from './sessions.js';
import { createTokenCallers } from './token-callers.js';
import type { TokenKind } from './token-format.js';

export interface AuthenticatorOptions {
  readonly database: Database;
  readonly sessions: Sessions;
  /** The origin that people use; says how the cookie is named and which origin is ours. */
  readonly publicUrl: string;
  /** Which tokens the service takes. */
  readonly tokens: readonly TokenKind[];
  readonly now?: () => number;
}

/** What a credential is read from. */
export interface CredentialSource {
  readonly method?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

/**
 * Makes the function that finds who sent a request. One that carries an
 * `Authorization` header is judged by that alone, otherwise by its cookie.
 *
 * The function gives `undefined` when there is no credential, and throws
 * `unauthenticated` for one that does not hold, or `cross_site` when another
 * site may have made a browser send the cookie with a method that changes things.
 */
export function createAuthenticator(
  options: AuthenticatorOptions,
): (request: CredentialSource) => Promise<Caller | undefined> {
  const { database, sessions, tokens: kinds, now = Date.now } = options;
  const { origin, protocol } = new URL(options.publicUrl);
  const findTokenCaller = createTokenCallers(database, kinds);
  const cookieName = sessionCookieName({ isHttps: protocol === 'https:' });

  return async (request) => {
    const { authorization, cookie = '' } = request.headers;
    if (authorization !== undefined) {
      const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? '';
      return requireCaller(await findTokenCaller(token, now()));
    }
    const id = findCookie(cookie, cookieName);
    if (id === undefined) return undefined;
    requireSameOrigin(request, origin);
    return requireCaller(await sessions.findCaller(id));
  };
}

function requireCaller(caller: Caller | undefined): Caller {
  if (caller !== undefined) return caller;
  throw new AppError('unauthenticated', 'Expected a session or a bearer token that is still valid.');
}

function requireSameOrigin({ method = '', headers }: CredentialSource, ownOrigin: string): void {
  if (SAFE_METHODS.includes(method)) return;
  const site = headers['sec-fetch-site'];
  // Older browsers send only Origin; a client that sends neither can send a token instead.
  if (site === undefined ? headers.origin === ownOrigin : site === 'same-origin') return;
  throw new AppError('cross_site', 'Expected a request from this origin; it came from another site.');
}
