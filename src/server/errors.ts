import { STATUS_CODES } from 'node:http';
import type { ErrorRequestHandler, RequestHandler, Response } from 'express';
import { AppError, ERROR_STATUS } from '../errors.js';
import type { ActionRefusal, ErrorCode } from '../errors.js';
import type { Log } from './log.js';
import { contextOf } from './request-context.js';

/** What every refusal of the REST services looks like: schema `Error` of the contracts, or of actions `ActionError`. */
export interface ErrorBody {
  readonly error: string;
  readonly code: ActionRefusal['code'] | ErrorCode;
  readonly field?: string;
  /** Of actions, the same as `error`. */
  readonly message?: string;
  readonly resetsAt?: string;
  readonly requestId: string;
}

/** Stands last: answers every path that nothing before it knows. */
export function notFoundHandler(): RequestHandler {
  return () => {
    throw new AppError('not_found', 'Expected the path of a page or an operation; nothing is here.');
  };
}

/** Turns what was thrown into the error body. Defects are logged and shown as `internal`, without detail. */
export function errorHandler({ log }: { readonly log: Log }): ErrorRequestHandler {
  return (error: unknown, _request, response, next) => {
    if (response.closed && isAbort(error)) return;
    const { requestId } = contextOf(response);
    const refusal = toRefusal(error);
    if (refusal.code === 'bad_gateway') log.warn({ requestId, err: error }, 'another server failed');
    else if (refusal.status >= 500) log.error({ requestId, err: error }, 'defect');
    if (response.headersSent) next(error);
    else sendRefusal(response, refusal, requestId);
  };
}

/** Whether an operation stopped because its signal was aborted, which happens when the client closes the connection. */
function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** @returns the error itself when it is one of ours; whatever else is thrown is `internal`. */
function toRefusal(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const status = exposedStatus(error);
  if (status === undefined) {
    return new AppError('internal', 'The server failed to answer; the request id finds the reason in its log.');
  }
  return new AppError(codeOf(status), `${STATUS_CODES[status] ?? 'Bad request'}.`, { cause: error });
}

export function toErrorBody({ message, code, field, action }: AppError, requestId: string): ErrorBody {
  const more = { ...(field === undefined ? {} : { field }), ...(action === undefined ? {} : { message, ...action }) };
  return { error: message, code, ...more, requestId };
}

function sendRefusal(response: Response, refusal: AppError, requestId: string): void {
  const body = JSON.stringify(toErrorBody(refusal, requestId));
  response.status(refusal.status);
  if (refusal.code === 'unauthenticated') response.setHeader('WWW-Authenticate', 'Bearer');
  response.set(refusal.headers).set('Cache-Control', 'no-store').type('json');
  // Not response.json(), which adds an ETag that no later request can match.
  response.setHeader('Content-Length', Buffer.byteLength(body)).end(body);
}

/** The 4xx status of an error that Express or its static files threw. */
function exposedStatus(error: unknown): number | undefined {
  if (!(error instanceof Object) || !('status' in error) || typeof error.status !== 'number') return undefined;
  return error.status >= 400 && error.status < 500 ? error.status : undefined;
}

function codeOf(status: number): ErrorCode {
  const codes = Object.keys(ERROR_STATUS) as ErrorCode[];
  return codes.find((code) => ERROR_STATUS[code] === status) ?? 'invalid_input';
}
