import { hash, timingSafeEqual } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import { AppError } from '../errors.js';
import { peerAddress } from './address.js';
import { REVALIDATE } from './headers.js';
import type { RateLimits } from './limits.js';
import { contextOf } from './request-context.js';
import { admit } from './security.js';
import type { Authenticate, Schemes } from './security.js';

/** The callers that may read the site. */
export type SiteReaders =
  | { readonly kind: 'public' }
  | { readonly kind: 'people'; readonly authenticate: Authenticate; readonly limits: RateLimits }
  | { readonly kind: 'token'; readonly token: string };

export interface SiteGateOptions {
  readonly readers: SiteReaders;
  /** Returns when the signature of a link expires, in milliseconds; `undefined` for one that is not valid. */
  readonly findExpiry: (path: string, signature: string) => number | undefined;
}

export interface SiteGate {
  /**
   * Admits a request to the site's data; returns `undefined` where anyone is admitted.
   *
   * @throws AppError `unauthenticated`, `forbidden`, `cross_site` or `rate_limited`.
   */
  admit(request: Request, response: Response): Promise<void> | undefined;
  /** Guards the files below `/static`, for which a signed link is enough. */
  readonly files: RequestHandler;
  /** Guards the GraphQL page: redirects to the sign-in page where a session would admit the browser. */
  readonly page: RequestHandler;
}

/** As of an operation: any session, or a personal token with the scope `read`. */
const PEOPLE = [
  { scheme: 'session', roles: [] },
  { scheme: 'token', roles: ['read'] },
];
const SCHEMES: Schemes = { session: 'session', token: 'token' };

/** Enforces TRELLIS_SITE_ACCESS. All callers that are admitted see the same data, so caches behind it need no key. */
export function createSiteGate({ readers, findExpiry }: SiteGateOptions): SiteGate {
  if (readers.kind === 'public') return { admit: () => undefined, files: pass, page: pass };
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
    async page(request, response, next) {
      // Without a token the page is of use all the same: the token is entered there.
      if (readers.kind === 'people' && !(await isAdmitted(requireReader(request, response)))) {
        response.set('Cache-Control', 'no-store').redirect(303, `/sign-in?next=${encodeURIComponent('/graphql')}`);
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
    const shown = { address: peerAddress(request), credential: authorization ?? cookie };
    const find = () => limits.guard(shown, () => authenticate(request));
    contextOf(response).caller = await admit({ security: PEOPLE }, SCHEMES, find);
  };
}

/** Wrong tokens need no limit of their own: 32 characters cannot be guessed, and comparing them costs a microsecond. */
function requireToken(token: string): RequireReader {
  const expected = digestOf(token);
  return async ({ headers: { authorization = '' } }) => {
    const given = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
    if (given !== undefined && timingSafeEqual(digestOf(given), expected)) return;
    throw new AppError('unauthenticated', 'This site needs its bearer token in the Authorization header.');
  };
}

/** Digests have the same length, which the comparison needs. */
const digestOf = (token: string): Buffer => hash('sha256', token, 'buffer');

const pass: RequestHandler = (_request, _response, next) => next();

/** A browser may keep the file for as long as it may load it. */
const untilExpiry = (expiresAt: number): string =>
  `private, max-age=${Math.max(0, Math.floor((expiresAt - Date.now()) / 1000))}, immutable`;

/** Says why a link does not open its file, where the request has nothing else to show. */
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
