import type { Request, RequestHandler, Response } from 'express';
import { AppError } from '../core/errors.js';

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
