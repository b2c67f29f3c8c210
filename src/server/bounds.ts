import type { RequestHandler } from 'express';
import { AppError } from '../errors.js';
import type { HostCheck } from './hosts.js';

/** GraphQL queries travel in URLs, so this is roomier than pages need. */
const MAX_URL_CHARACTERS = 16_384;

/** Twice given, these mean one thing to us and perhaps another to a proxy before us. */
const SINGLE_HEADERS = ['authorization', 'content-type', 'host', 'origin', 'sec-fetch-site'];

/** The name is not repeated: it is the caller's own. */
const HOST_NOT_ALLOWED =
  'This server is not configured for the host name of the request. PUBLIC_URL and TRELLIS_ALLOWED_HOSTS name its hosts.';

export interface BoundsOptions {
  /** Absent where requests may use any name. */
  readonly isAllowedHost?: HostCheck;
}

/** Refuses requests that no honest client sends, before anything looks at them. */
export function requestBounds({ isAllowedHost = () => true }: BoundsOptions = {}): RequestHandler {
  return ({ url, httpVersion, headers, headersDistinct }, _response, next) => {
    if (url.length > MAX_URL_CHARACTERS) {
      throw new AppError(
        'invalid_input',
        `Expected a URL of at most ${MAX_URL_CHARACTERS} characters; received ${url.length}.`,
      );
    }
    if (!url.startsWith('/') && url !== '*') {
      throw new AppError('invalid_input', 'Expected a request target that is a path, or a URL with http or https.');
    }
    if (httpVersion === '1.1' && headersDistinct.host === undefined) {
      throw new AppError('invalid_input', 'Expected a Host header; none came.');
    }
    const name = headers.host?.replace(/:\d*$/, '').toLowerCase();
    if (name !== undefined && !isAllowedHost(name, url)) {
      throw new AppError('invalid_input', HOST_NOT_ALLOWED, { field: 'host' });
    }
    const repeated = SINGLE_HEADERS.find((name) => (headersDistinct[name]?.length ?? 0) > 1);
    if (repeated !== undefined) {
      throw new AppError('invalid_input', `Expected one ${repeated} header; received several.`, { field: repeated });
    }
    next();
  };
}
