import { hash, timingSafeEqual } from 'node:crypto';
import { AppError } from '@trellis/core/errors';
import type { Request, RequestHandler, Response } from 'express';
import { REVALIDATE } from '../http/headers.js';
import type { RateLimiter } from '../http/rate-limits.js';
import { getClientAddress, getRequestContext } from '../http/request.js';
import { type Authenticate, authorize, type Schemes } from '../http/security.js';

/** The callers that may read a site that is not public. */
type SiteReaders =
  | {
      readonly kind: 'people';
      readonly authenticate: Authenticate;
      readonly limits: RateLimiter;
      /** The page to which browsers without a session are redirected from the GraphQL page. */
      readonly signInUrl: string;
    }
  | { readonly kind: 'token'; readonly token: string };

export interface SiteGateOptions {
  readonly readers: SiteReaders;
  /**
   * Returns the time at which the signature of a link expires, in milliseconds; `undefined` for an invalid signature.
   */
  readonly findExpiry: (path: string, signature: string) => number | undefined;
}

export interface SiteGate {
  /**
   * Admits a request to the site's data.
   *
   * @throws AppError `unauthenticated`, `forbidden`, `cross_site` or `rate_limited`.
   */
  admit(request: Request, response: Response): Promise<void>;
  /** Guards the files below `/static`, for which a signed link is enough. */
  readonly files: RequestHandler;
  /** Guards the GraphQL page: redirects to the sign-in page if a session would admit the browser. */
  readonly explorer: RequestHandler;
}

/** The security of an operation that any session may use, and API tokens with the scope `read`. */
const PEOPLE = [
  { scheme: 'session', roles: [] },
  { scheme: 'token', roles: ['read'] },
];
const SCHEMES: Schemes = { session: 'session', token: 'token' };

/** Admits the readers of a site that is not public. All of them see the same data, so caches behind it need no key per caller. */
export function createSiteGate({ readers, findExpiry }: SiteGateOptions): SiteGate {
  const requireReader = readers.kind === 'people' ? requirePerson(readers) : requireToken(readers.token);

  return {
    admit: requireReader,
    async files(request, response, next) {
      const { signature } = request.query;
      const expiresAt = typeof signature === 'string' ? findExpiry(request.path, signature) : undefined;
      if (expiresAt === undefined) await requireReader(request, response).catch(explainLink(signature));
      response.setHeader('Cache-Control', expiresAt === undefined ? REVALIDATE : untilExpiry(expiresAt));
      next();
    },
    async explorer(request, response, next) {
      // With the access `token` the page is open, because the user enters the token there.
      if (readers.kind === 'people' && !(await isAdmitted(requireReader(request, response)))) {
        response.set('Cache-Control', 'no-store').redirect(303, readers.signInUrl);
        return;
      }
      next();
    },
  };
}

type RequireReader = (request: Request, response: Response) => Promise<void>;

function requirePerson({ authenticate, limits }: Extract<SiteReaders, { kind: 'people' }>): RequireReader {
  return async (request, response) => {
    const { authorization, cookie = '' } = request.headers;
    const shown = { address: getClientAddress(request), credential: authorization ?? cookie };
    const find = () => limits.lookUpCredential(shown, () => authenticate(request));
    getRequestContext(response).caller = await authorize({ security: PEOPLE }, SCHEMES, find);
  };
}

/** Invalid tokens need no rate limit: 32 characters cannot be guessed, and a comparison takes a microsecond. */
function requireToken(token: string): RequireReader {
  const expected = digestOf(token);
  return async ({ headers: { authorization = '' } }) => {
    const given = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
    if (given !== undefined && timingSafeEqual(digestOf(given), expected)) return;
    throw new AppError('unauthenticated', 'This site requires its bearer token in the Authorization header.');
  };
}

/** Returns a digest, because timingSafeEqual() requires inputs of the same length. */
const digestOf = (token: string): Buffer => hash('sha256', token, 'buffer');

/** Lets the browser cache the file until the link expires. */
const untilExpiry = (expiresAt: number): string =>
  `private, max-age=${Math.max(0, Math.floor((expiresAt - Date.now()) / 1000))}, immutable`;

/** Explains the failure of a signed link, if the request has no other credential. */
function explainLink(signature: unknown): (error: unknown) => never {
  return (error) => {
    const isLinkAlone = signature !== undefined && error instanceof AppError && error.code === 'unauthenticated';
    if (!isLinkAlone) throw error;
    throw new AppError('unauthenticated', 'This link has expired or was changed. Query the site for a new one.', {
      cause: error,
    });
  };
}

async function isAdmitted(admission: Promise<void>): Promise<boolean> {
  try {
    await admission;
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'unauthenticated') return false;
    throw error;
  }
}
