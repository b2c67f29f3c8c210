import { randomUUID } from 'node:crypto';
import type { RequestHandler, Response } from 'express';
import type { Caller } from '../accounts/callers.js';
import type { Log } from './log.js';

/** What the log line of a request says, filled in as it is learnt. */
export interface RequestContext {
  readonly requestId: string;
  /** An `operationId`, or what stands for one elsewhere, such as `graphql`. */
  operation?: string;
  caller?: Caller | undefined;
}

/** Gives each request an id, in `X-Request-Id`, and one line in the log when its answer has left. */
export function requestContext({ log }: { readonly log: Log }): RequestHandler {
  // All of a line is our own, and looking for credentials in it takes as long as writing it.
  const lines = log.child({}, { redact: [] });
  return (request, response, next) => {
    // An id from outside could be anything, or another request's: this one is ours.
    const context: RequestContext = { requestId: randomUUID() };
    const startedAt = performance.now();
    response.locals.context = context;
    response.setHeader('X-Request-Id', context.requestId);
    response.once('close', () => {
      lines.info({
        requestId: context.requestId,
        method: request.method,
        // The path of an unmatched request may hold anything, so only a matched one is named.
        operation: context.operation,
        status: response.statusCode,
        milliseconds: Math.round((performance.now() - startedAt) * 10) / 10,
        caller: context.caller && callerId(context.caller),
        ...(response.writableFinished ? {} : { aborted: true }),
      });
    });
    next();
  };
}

/** @throws Error when {@link requestContext} does not stand before the caller. */
export function contextOf(response: Response): RequestContext {
  const context = response.locals.context as RequestContext | undefined;
  if (context === undefined) throw new Error('Expected requestContext() before this handler.');
  return context;
}

/** Names a caller in the log. Never by the session's id, which stands for the cookie. */
export function callerId(caller: Caller): string {
  return caller.kind === 'session' ? `session:${caller.personId}` : `${caller.kind}:${caller.tokenId}`;
}
