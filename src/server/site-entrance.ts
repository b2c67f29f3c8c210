import type { RequestHandler, Response } from 'express';
import type { ErrorBody } from './errors.js';
import { contextOf } from './request-context.js';

/** What is read meanwhile, or tried again, is there after this time at the earliest. */
const RETRY_AFTER_SECONDS = 5;

export interface SiteEntranceParts<T> {
  /** Paths of the site that are known before it is open; each stands also for all below it. */
  readonly paths: readonly string[];
  /** The open site, or why there is none. */
  readonly find: () => { readonly open: T } | { readonly reason: string };
  /** Makes what answers requests for an open site. */
  readonly serve: (open: T) => RequestHandler;
}

/** Passes requests to the open site, and answers `unavailable` for its paths while there is none. */
export function siteEntrance<T>({ paths, find, serve }: SiteEntranceParts<T>): RequestHandler {
  let served: { readonly open: T; readonly handler: RequestHandler } | undefined;
  return (request, response, next) => {
    const found = find();
    if ('open' in found) {
      if (served?.open !== found.open) served = { open: found.open, handler: serve(found.open) };
      void served.handler(request, response, next);
      return;
    }
    const isOurs = paths.some((path) => request.path === path || request.path.startsWith(`${path}/`));
    if (isOurs) refuse(response, found.reason);
    else next();
  };
}

function refuse(response: Response, reason: string): void {
  const { requestId } = contextOf(response);
  const body: ErrorBody = { error: reason, code: 'unavailable', requestId };
  response.status(503).set('Retry-After', String(RETRY_AFTER_SECONDS)).set('Cache-Control', 'no-store').json(body);
}
