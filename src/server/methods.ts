import type { Request, RequestHandler, Response } from 'express';
import { AppError } from '../errors.js';

/** What a page or a document allows. */
export const READ_ONLY = 'GET, HEAD, OPTIONS';

/**
 * Answers a request by a method that its path has nothing for: to OPTIONS it
 * tells those that there are.
 *
 * @throws AppError `method_not_allowed` for every other method.
 */
export function refuseMethod({ method }: Request, response: Response, allow: string): void {
  if (method !== 'OPTIONS') {
    throw new AppError('method_not_allowed', `Expected one of ${allow}; received ${method}.`, {
      headers: { Allow: allow },
    });
  }
  response.status(204).set('Allow', allow).end();
}

/** Stands behind what answers these methods of a path. */
export const allowOnly =
  (allow: string): RequestHandler =>
  (request, response) =>
    refuseMethod(request, response, allow);
