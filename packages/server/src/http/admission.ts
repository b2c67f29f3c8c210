/** Requests that get no further: those before the start, those that no regular client sends, those for a closed site. */
import { hash, randomUUID, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { AppError } from '@trellis/core/errors';
import type { Request, RequestHandler, Response } from 'express';
import type { RateLimiter } from './rate-limits.js';
import { getClientAddress, getRequestContext, type Log } from './request.js';
import { type ErrorBody, REVALIDATE } from './responses.js';
import { type Authenticate, authorize, type Schemes } from './security.js';

/** Long enough to open the databases, and the time between two attempts to open a site. */
const RETRY_AFTER_SECONDS = 5;

/** A listener that can be used before the app exists, so that a port in use is reported before the startup work. */
interface StartupListener {
  readonly listener: RequestListener;
  /** Passes all further requests to the app. Until then the response to each is `unavailable`. */
  open(app: RequestListener): void;
}

export function createStartupListener({ log }: { readonly log: Log }): StartupListener {
  let current: RequestListener = (request, response) => respondStarting(request, response, log);
  return {
    listener: (request, response) => current(request, response),
    open(app) {
      current = app;
    },
  };
}

function respondStarting({ method }: IncomingMessage, response: ServerResponse, log: Log): void {
  const requestId = randomUUID();
  log.info({ requestId, method, status: 503 }, 'the server is starting');
  const error = 'The server is starting. Retry shortly.';
  const body = JSON.stringify({ error, code: 'unavailable', requestId } satisfies ErrorBody);
  response.writeHead(503, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Retry-After': RETRY_AFTER_SECONDS,
    'Cache-Control': 'no-store',
    'X-Request-Id': requestId,
  });
  response.end(body);
}

/** Longer than pages need, because URLs may contain GraphQL queries. */
const MAX_URL_CHARACTERS = 16_384;

/** A proxy in front could interpret repetitions of these headers differently from this server. */
const SINGLE_HEADERS = ['authorization', 'content-type', 'host', 'origin', 'sec-fetch-site'];

/** Does not repeat the name, which an attacker may have chosen. */
const HOST_NOT_ALLOWED = 'This server is not configured for the host name of the request.';

interface BoundsOptions {
  /** Absent if requests may use any host name. */
  readonly isAllowedHost?: HostCheck;
  /** A sentence for the operator about the settings that name the hosts. */
  readonly hostAdvice?: string;
}

/**
 * Checks a request.
 *
 * @throws AppError `invalid_input` for a request that no regular client sends.
 */
type AssertBounds = (request: Pick<IncomingMessage, 'headers' | 'httpVersion' | 'rawHeaders' | 'url'>) => void;

export function createBoundsCheck({ isAllowedHost = () => true, hostAdvice }: BoundsOptions = {}): AssertBounds {
  const hostMessage = [HOST_NOT_ALLOWED, hostAdvice ?? []].flat().join(' ');
  return ({ url = '', httpVersion, headers, rawHeaders }) => {
    if (url.length > MAX_URL_CHARACTERS) {
      throw new AppError(
        'invalid_input',
        `Expected a URL of at most ${MAX_URL_CHARACTERS} characters; received ${url.length}.`,
      );
    }
    if (!url.startsWith('/') && url !== '*') {
      throw new AppError('invalid_input', 'Expected the request target to be a path, or a URL with http or https.');
    }
    const found = findSingleHeaders(rawHeaders);
    if (httpVersion === '1.1' && !found.includes('host')) {
      throw new AppError('invalid_input', 'The Host header is required.');
    }
    const name = headers.host?.replace(/:\d*$/, '').toLowerCase();
    if (name !== undefined && !isAllowedHost(name, url)) {
      throw new AppError('invalid_input', hostMessage, { field: 'host' });
    }
    const repeated = SINGLE_HEADERS.find((one) => found.indexOf(one) !== found.lastIndexOf(one));
    if (repeated !== undefined) {
      const message = `Expected at most one ${repeated} header; received several.`;
      throw new AppError('invalid_input', message, { field: repeated });
    }
  };
}

const SINGLE_HEADER_LENGTHS = new Set(SINGLE_HEADERS.map(({ length }) => length));

/**
 * Returns the names of those headers, each as often as it was sent. `headersDistinct` of the request would be more
 * convenient, but copies all headers, which takes longer than all other checks.
 */
function findSingleHeaders(rawHeaders: readonly string[]): readonly string[] {
  const found: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const header = rawHeaders[index] ?? '';
    if (!SINGLE_HEADER_LENGTHS.has(header.length)) continue;
    const name = header.toLowerCase();
    if (SINGLE_HEADERS.includes(name)) found.push(name);
  }
  return found;
}

/** Rejects requests that no regular client sends, before other handlers see them. */
export function requestBounds(options?: BoundsOptions): RequestHandler {
  const assertBounds = createBoundsCheck(options);
  return (request, _response, next) => {
    assertBounds(request);
    next();
  };
}

export interface HostRules {
  /** Whether the server can be reached from this machine only. */
  readonly isLoopback: boolean;
  /** The public origin; `undefined` if none is configured. */
  readonly publicUrl: string | undefined;
  /** Further host names, in lower case. */
  readonly allowedHosts: readonly string[];
}

/** Returns whether a request for a URL may use a host name, which is given in lower case and without a port. */
type HostCheck = (name: string, url: string) => boolean;

/** Names that always refer to this machine. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Load balancers use arbitrary host names for these paths, and the responses contain no data. */
const PROBES = ['/healthz', '/readyz'];

/**
 * Creates the check against DNS rebinding. A web page whose host name resolves to this server would have the same
 * origin as the server, and could read everything that the server shows without a credential.
 *
 * On a network, IP addresses and names without a dot are accepted too: no page on the internet has such an origin, and
 * proxies, containers and probes use them. A server on a network without a configured name accepts every name.
 */
export function createHostCheck({ isLoopback, publicUrl, allowedHosts }: HostRules): HostCheck {
  if (!isLoopback && publicUrl === undefined && allowedHosts.length === 0) return () => true;
  const names = new Set(allowedHosts);
  if (publicUrl !== undefined) names.add(new URL(publicUrl).hostname);
  const isInternal = (name: string): boolean => !isLoopback && (isIP(unbracket(name)) !== 0 || !name.includes('.'));
  return (name, url) => names.has(name) || LOOPBACK.test(name) || isInternal(name) || PROBES.includes(url);
}

const unbracket = (name: string): string => name.replace(/^\[(.*)\]$/, '$1');

interface SiteRouterDependencies<T> {
  /** The paths of the site that are known before it is open, each with all paths below it. */
  readonly paths: readonly string[];
  /** Its state is the open site, or the reason why it is unavailable. */
  readonly site: { readonly state: { readonly open: T } | { readonly reason: string } };
  /** Creates the handler of requests to an open site. */
  readonly serve: (open: T) => RequestHandler;
}

/** Passes requests to the open site; while it is unavailable, responds to its paths with 503. */
export function siteRouter<T>({ paths, site, serve }: SiteRouterDependencies<T>): RequestHandler {
  let served: { readonly open: T; readonly handler: RequestHandler } | undefined;
  return (request, response, next) => {
    const { state } = site;
    if ('open' in state) {
      if (served?.open !== state.open) served = { open: state.open, handler: serve(state.open) };
      void served.handler(request, response, next);
      return;
    }
    const isSitePath = paths.some((path) => request.path === path || request.path.startsWith(`${path}/`));
    if (isSitePath) respondUnavailable(response, state.reason);
    else next();
  };
}

function respondUnavailable(response: Response, reason: string): void {
  const { requestId } = getRequestContext(response);
  const body: ErrorBody = { error: reason, code: 'unavailable', requestId };
  response.status(503).set('Retry-After', String(RETRY_AFTER_SECONDS)).set('Cache-Control', 'no-store').json(body);
}

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
