import { STATUS_CODES } from 'node:http';
import type { ErrorRequestHandler, RequestHandler, Response } from 'express';
import { AppError, ERROR_STATUS } from '../errors.js';
import type { ErrorCode } from '../errors.js';
import type { Log } from './log.js';
import { contextOf } from './request-context.js';

/** What every refusal of the REST services looks like: schema `Error` of the contracts. */
export interface ErrorBody {
  readonly error: string;
  readonly code: ErrorCode;
  readonly field?: string;
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
    const { requestId } = contextOf(response);
    const refusal = toRefusal(error);
    if (refusal.status >= 500) log.error({ requestId, err: error }, 'defect');
    if (response.headersSent) next(error);
    else sendRefusal(response, refusal, requestId);
  };
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

export function toErrorBody({ message, code, field }: AppError, requestId: string): ErrorBody {
  return { error: message, code, ...(field === undefined ? {} : { field }), requestId };
}

function sendRefusal(response: Response, refusal: AppError, requestId: string): void {
  response.status(refusal.status);
  if (refusal.code === 'unauthenticated') response.setHeader('WWW-Authenticate', 'Bearer');
  response.set(refusal.headers).set('Cache-Control', 'no-store').json(toErrorBody(refusal, requestId));
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
