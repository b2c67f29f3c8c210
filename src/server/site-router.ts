import type { RequestHandler, Response } from 'express';
import type { ErrorBody } from './errors.js';
import { getRequestContext } from './request-context.js';

/** The time between two attempts to open a site; clients need not retry sooner. */
const RETRY_AFTER_SECONDS = 5;

export interface SiteRouterDependencies<T> {
  /** The paths of the site that are known before it is open, each with all paths below it. */
  readonly paths: readonly string[];
  /** The open site, or the reason why it is unavailable. */
  readonly find: () => { readonly open: T } | { readonly reason: string };
  /** Creates the handler of requests to an open site. */
  readonly serve: (open: T) => RequestHandler;
}

/** Passes requests to the open site; while it is unavailable, responds to its paths with 503. */
export function siteRouter<T>({ paths, find, serve }: SiteRouterDependencies<T>): RequestHandler {
  let served: { readonly open: T; readonly handler: RequestHandler } | undefined;
  return (request, response, next) => {
    const found = find();
    if ('open' in found) {
      if (served?.open !== found.open) served = { open: found.open, handler: serve(found.open) };
      void served.handler(request, response, next);
      return;
    }
    const isSitePath = paths.some((path) => request.path === path || request.path.startsWith(`${path}/`));
    if (isSitePath) respondUnavailable(response, found.reason);
    else next();
  };
}

function respondUnavailable(response: Response, reason: string): void {
  const { requestId } = getRequestContext(response);
  const body: ErrorBody = { error: reason, code: 'unavailable', requestId };
  response.status(503).set('Retry-After', String(RETRY_AFTER_SECONDS)).set('Cache-Control', 'no-store').json(body);
}
