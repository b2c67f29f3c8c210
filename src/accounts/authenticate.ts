import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../core/errors.js';
import type { Database } from '../storage/database.js';
import type { Caller } from './callers.js';
import { findCookie, sessionCookieName } from './cookies.js';
import type { Sessions } from './sessions.js';
import { createTokenCallers } from './token-callers.js';
import type { TokenKind } from './token-format.js';

export interface AuthenticatorOptions {
  readonly database: Database;
  readonly sessions: Sessions;
  /** The public origin. It determines the name of the cookie and which requests are same-origin. */
  readonly publicUrl: string;
  /** The kinds of token that the service accepts. */
  readonly tokens: readonly TokenKind[];
  readonly now?: () => number;
}

/** The parts of a request that contain its credential. */
export interface CredentialSource {
  readonly method?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

/**
 * Creates a function that finds the caller of a request. A request with an `Authorization` header is authenticated by
 * that header alone, otherwise by its session cookie.
 *
 * The function returns `undefined` for a request without a credential. It throws `unauthenticated` for an invalid
 * credential, and `cross_site` if an unsafe request with a cookie may come from another site.
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
  throw new AppError('unauthenticated', 'The session or token is invalid, expired or revoked.');
}

function requireSameOrigin({ method = '', headers }: CredentialSource, ownOrigin: string): void {
  if (SAFE_METHODS.includes(method)) return;
  const site = headers['sec-fetch-site'];
  // Older browsers send only Origin; a client that sends neither can send a token instead.
  if (site === undefined ? headers.origin === ownOrigin : site === 'same-origin') return;
  throw new AppError('cross_site', 'Cross-site request blocked.');
}
