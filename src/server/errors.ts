import { STATUS_CODES } from 'node:http';
import type { ErrorRequestHandler, RequestHandler, Response } from 'express';
import { AppError, ERROR_STATUS } from '../core/errors.js';
import type { ActionErrorDetails, ErrorCode } from '../core/errors.js';
import type { Log } from './log.js';
import { getRequestContext } from './request-context.js';

/** The body of an error response: schema `Error` of the contracts, or `ActionError` for actions. */
export interface ErrorBody {
  readonly error: string;
  readonly code: ActionErrorDetails['code'] | ErrorCode;
  readonly field?: string;
  /** The same text as `error`; only for actions. */
  readonly message?: string;
  readonly resetsAt?: string;
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
    if (appError.code === 'bad_gateway') log.warn({ requestId, err: error }, 'upstream server failed');
    else if (appError.status >= 500) log.error({ requestId, err: error }, 'internal error');
    if (response.headersSent) next(error);
    else sendError(response, appError, requestId);
  };
}

/** Returns whether an operation stopped because the client closed the connection, which aborts its signal. */
function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** Returns an AppError unchanged, and converts any other error. */
function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const status = exposedStatus(error);
  if (status === undefined) {
    return new AppError('internal', 'Internal error. Quote the request id when you report it.');
  }
  return new AppError(codeOf(status), `${STATUS_CODES[status] ?? 'Bad request'}.`, { cause: error });
}

export function toErrorBody({ message, code, field, action }: AppError, requestId: string): ErrorBody {
  const more = { ...(field === undefined ? {} : { field }), ...(action === undefined ? {} : { message, ...action }) };
  return { error: message, code, ...more, requestId };
}

function sendError(response: Response, error: AppError, requestId: string): void {
  const body = JSON.stringify(toErrorBody(error, requestId));
  response.status(error.status);
  if (error.code === 'unauthenticated') response.setHeader('WWW-Authenticate', 'Bearer');
  response.set(error.headers).set('Cache-Control', 'no-store').type('json');
  // response.json() would add an ETag, which is useless because the request id is unique.
  response.setHeader('Content-Length', Buffer.byteLength(body)).end(body);
}

/** Returns the 4xx status of an error that Express or its static file handler has thrown. */
function exposedStatus(error: unknown): number | undefined {
  if (!(error instanceof Object) || !('status' in error) || typeof error.status !== 'number') return undefined;
  return error.status >= 400 && error.status < 500 ? error.status : undefined;
}

function codeOf(status: number): ErrorCode {
  const codes = Object.keys(ERROR_STATUS) as ErrorCode[];
  return codes.find((code) => ERROR_STATUS[code] === status) ?? 'invalid_input';
}
