import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { AppError, ERROR_STATUS, type ErrorCode } from '@trellis/core/errors';
import { convertStorageFault, FAULT_TEXTS, findStorageFault } from '@trellis/core/storage';
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import helmet from 'helmet';
import { getRequestContext, type Log } from './request.js';

/** Responses of the services are specific to one caller, so no cache may store them. */
export const PRIVATE = 'no-store';

/** The caller's browser may store the response, and revalidates it before each use. */
export const REVALIDATE = 'private, no-cache';

/** One year, for URLs that change with their content. */
export const IMMUTABLE = 'public, max-age=31536000, immutable';

/**
 * Sets the headers that restrict browsers to scripts, styles and connections of this origin, without frames or content
 * sniffing.
 *
 * @param options.isHttps Whether the public origin is https. If so, HSTS requires https from then on.
 */
export function securityHeaders(options: { readonly isHttps: boolean }): RequestHandler {
  const headers = collectHeaders(createHelmet(options));
  return (_request, response, next) => {
    for (const [name, value] of headers) response.setHeader(name, value);
    next();
  };
}

export type Headers = readonly (readonly [string, string])[];

/** Returns the security headers of data responses. A browser that opens one as a page runs nothing. */
export function dataHeaders({ isHttps }: { readonly isHttps: boolean }): Headers {
  const policy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox";
  const needed = ['Cross-Origin-Resource-Policy', 'Strict-Transport-Security', 'X-Content-Type-Options'];
  const headers = collectHeaders(createHelmet({ isHttps })).filter(([name]) => needed.includes(name));
  return [['Content-Security-Policy', policy], ...headers];
}

/** Collects the headers once, because they are the same for every response. */
function collectHeaders(helmet: ReturnType<typeof createHelmet>): Headers {
  const headers = new Map<string, string>();
  const response = {
    setHeader: (name: string, value: string) => headers.set(name, value),
    removeHeader: (name: string) => headers.delete(name),
  };
  helmet({} as unknown as IncomingMessage, response as unknown as ServerResponse, () => undefined);
  return [...headers];
}

function createHelmet({ isHttps }: { readonly isHttps: boolean }) {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        'default-src': ["'self'"],
        'script-src': ["'self'"],
        'style-src': ["'self'"],
        // Image previews are data URLs.
        'img-src': ["'self'", 'data:'],
        'object-src': ["'none'"],
        'base-uri': ["'none'"],
        'form-action': ["'self'"],
        'frame-ancestors': ["'none'"],
        ...(isHttps ? { 'upgrade-insecure-requests': [] } : {}),
      },
    },
    strictTransportSecurity: isHttps,
    frameguard: { action: 'deny' },
  });
}

/** The body of an error response: schema `Error` of contracts, which operations may extend. */
export interface ErrorBody {
  readonly error: string;
  /** An error code, unless the contract of the operation has codes of its own. */
  readonly code: string;
  readonly field?: string;
  readonly requestId: string;
}

/** Rejects every request that no earlier handler has accepted. */
export function notFoundHandler(): RequestHandler {
  return () => {
    throw new AppError('not_found', 'No page or operation at this path.');
  };
}

/**
 * Responds to thrown errors with the error body. Internal errors are logged, and shown as `internal` without details.
 */
export function errorHandler({ log }: { readonly log: Log }): ErrorRequestHandler {
  return (error: unknown, _request, response, next) => {
    if (response.closed && isAbort(error)) return;
    const { requestId } = getRequestContext(response);
    const appError = toAppError(error);
    const fault = appError.status >= 500 ? findStorageFault(error) : undefined;
    if (appError.code === 'bad_gateway') log.warn({ requestId, err: error }, 'upstream server failed');
    else if (fault !== undefined) log.error({ requestId, err: error }, `storage fault: ${FAULT_TEXTS[fault]}`);
    else if (appError.code === 'unavailable') {
      log.warn({ requestId, reason: appError.message, err: appError.cause }, 'unavailable');
    } else if (appError.status >= 500) log.error({ requestId, err: error }, 'internal error');
    if (response.headersSent) next(error);
    else sendError(response, appError, requestId);
  };
}

/** Returns whether an operation stopped because the client closed the connection, which aborts its signal. */
function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

const MALFORMED_PATH = 'Expected percent-encoded UTF-8 text without NUL in the path.';

/** Returns an AppError unchanged, and converts any other error: a fault of the disk or a database is `unavailable`. */
function toAppError(thrown: unknown): AppError {
  const error = convertStorageFault(thrown);
  if (error instanceof AppError) return error;
  const status = exposedStatus(error);
  if (status === undefined) {
    return new AppError('internal', 'Internal error. Quote the request id when you report it.');
  }
  const message = isMalformedPath(error) ? MALFORMED_PATH : `${STATUS_CODES[status] ?? 'Bad request'}.`;
  // A range that a file does not have keeps its status, which has no code of its own.
  return new AppError(codeOf(status), message, { cause: error, status });
}

export function toErrorBody({ message, code, field, details }: AppError, requestId: string): ErrorBody {
  return { error: message, code, ...(field === undefined ? {} : { field }), ...details, requestId };
}

/** For errors that don't know better. */
const DEFAULT_RETRY_AFTER_SECONDS = 5;

function sendError(response: Response, error: AppError, requestId: string): void {
  const body = JSON.stringify(toErrorBody(error, requestId));
  response.status(error.status);
  if (error.code === 'unauthenticated') response.setHeader('WWW-Authenticate', 'Bearer');
  if (error.status === 503) response.setHeader('Retry-After', DEFAULT_RETRY_AFTER_SECONDS);
  response.set(error.headers).set('Cache-Control', 'no-store').type('json');
  // response.json() would add an ETag, which is useless because the request id is unique.
  response.setHeader('Content-Length', Buffer.byteLength(body)).end(body);
}

/** Returns whether Express, or its static file handler, could not decode the path. */
const isMalformedPath = (error: unknown): boolean =>
  error instanceof Error && ['BadRequestError', 'URIError'].includes(error.name);

/** Returns the 4xx status of an error that Express or its static file handler has thrown. */
function exposedStatus(error: unknown): number | undefined {
  if (!(error instanceof Object) || !('status' in error) || typeof error.status !== 'number') return undefined;
  return error.status >= 400 && error.status < 500 ? error.status : undefined;
}

function codeOf(status: number): ErrorCode {
  const codes = Object.keys(ERROR_STATUS) as ErrorCode[];
  return codes.find((code) => ERROR_STATUS[code] === status) ?? 'invalid_input';
}

/** The methods of pages and documents. */
export const READ_ONLY = 'GET, HEAD, OPTIONS';

/**
 * Responds to OPTIONS with the allowed methods, and rejects every other method.
 *
 * @throws AppError `method_not_allowed`
 */
export function throwMethodNotAllowed({ method }: Request, response: Response, allow: string): void {
  if (method !== 'OPTIONS') {
    throw new AppError('method_not_allowed', `Expected the method to be one of ${allow}; received ${method}.`, {
      headers: { Allow: allow },
    });
  }
  response.status(204).set('Allow', allow).end();
}

/** Creates the last handler of a path, which rejects methods that no earlier handler has accepted. */
export const allowMethods =
  (allow: string): RequestHandler =>
  (request, response) =>
    throwMethodNotAllowed(request, response, allow);
