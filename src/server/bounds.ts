import type { RequestHandler } from 'express';
import { AppError } from '../errors.js';

/** GraphQL queries travel in URLs, so this is roomier than pages need. */
const MAX_URL_CHARACTERS = 16_384;

/** Twice given, these mean one thing to us and perhaps another to a proxy before us. */
const SINGLE_HEADERS = ['authorization', 'content-type', 'host', 'origin', 'sec-fetch-site'];

/** Names that always mean this machine. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

export interface BoundsOptions {
  /**
   * The only name beside this machine's own that requests may be sent to; any when absent. A server that only this
   * machine reaches is reached by every page in its browser too: one whose name leads here (DNS rebinding) would be
   * of the same origin, and read all that is open to anyone.
   */
  readonly onlyHost?: string | undefined;
}

/** Refuses requests that no honest client sends, before anything looks at them. */
export function requestBounds({ onlyHost }: BoundsOptions = {}): RequestHandler {
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
    if (onlyHost !== undefined && name !== undefined && name !== onlyHost && !LOOPBACK.test(name)) {
      throw new AppError('invalid_input', `Expected Host to be ${onlyHost}; set PUBLIC_URL to serve another name.`, {
        field: 'host',
      });
    }
    const repeated = SINGLE_HEADERS.find((name) => (headersDistinct[name]?.length ?? 0) > 1);
    if (repeated !== undefined) {
      throw new AppError('invalid_input', `Expected one ${repeated} header; received several.`, { field: repeated });
    }
    next();
  };
}
