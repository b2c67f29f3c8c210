import type { RequestHandler } from 'express';
import { AppError } from '../errors.js';

/** GraphQL queries travel in URLs, so this is roomier than pages need. */
const MAX_URL_CHARACTERS = 16_384;

/** Twice given, these mean one thing to us and perhaps another to a proxy before us. */
const SINGLE_HEADERS = ['authorization', 'content-type', 'host', 'origin', 'sec-fetch-site'];

/** Refuses requests that no honest client sends, before anything looks at them. */
export function requestBounds(): RequestHandler {
  return ({ url, httpVersion, headersDistinct }, _response, next) => {
    if (url.length > MAX_URL_CHARACTERS) {
      throw new AppError(
        'invalid_input',
        `Expected a URL of at most ${MAX_URL_CHARACTERS} characters; received ${url.length}.`,
      );
    }
    if (httpVersion === '1.1' && headersDistinct.host === undefined) {
      throw new AppError('invalid_input', 'Expected a Host header; none came.');
    }
    const repeated = SINGLE_HEADERS.find((name) => (headersDistinct[name]?.length ?? 0) > 1);
    if (repeated !== undefined) {
      throw new AppError('invalid_input', `Expected one ${repeated} header; received several.`, { field: repeated });
    }
    next();
  };
}
