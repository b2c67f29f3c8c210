import { randomUUID } from 'node:crypto';
import type { RequestHandler, Response } from 'express';
import type { Caller } from '../accounts/callers.js';
import type { Log } from './log.js';

/** The data for the log line of a request. Handlers add the operation and the caller. */
export interface RequestContext {
  readonly requestId: string;
  /** An `operationId`, or a name for other requests, such as `graphql`. */
  operation?: string;
  caller?: Caller | undefined;
}

/** Assigns an id to each request, sets `X-Request-Id`, and logs one line when the response is complete. */
export function requestContext({ log }: { readonly log: Log }): RequestHandler {
  // These lines contain no headers, and redaction would take as long as writing the line.
  const lines = log.child({}, { redact: [] });
  return (request, response, next) => {
    // An id from the client is not used, because it might not be unique.
    const context: RequestContext = { requestId: randomUUID() };
    const startedAt = performance.now();
    response.locals.context = context;
    response.setHeader('X-Request-Id', context.requestId);
    response.once('close', () => {
      lines.info({
        requestId: context.requestId,
        method: request.method,
        // The log names the operation instead of the path, which may contain a secret.
        operation: context.operation,
        status: response.statusCode,
        milliseconds: Math.round((performance.now() - startedAt) * 10) / 10,
        caller: context.caller && toCallerId(context.caller),
        ...(response.writableFinished ? {} : { aborted: true }),
      });
    });
    next();
  };
}

/** @throws Error if {@link requestContext} is not installed before the calling handler. */
export function getRequestContext(response: Response): RequestContext {
  const context = response.locals.context as RequestContext | undefined;
  if (context === undefined) throw new Error('requestContext() is not installed before this handler.');
  return context;
}

/** Returns the id of a caller for logs and rate limits. It never contains the session id, which is secret. */
export function toCallerId(caller: Caller): string {
  return caller.kind === 'session' ? `session:${caller.personId}` : `${caller.kind}:${caller.tokenId}`;
}
